# polr of MASS on the rows of each dimension: Rscript benchmarks/polr.R folder dimension ...
# Prints, by dimension: number, seconds, log-likelihood as polr stops by itself, and both with a tight tolerance.
suppressPackageStartupMessages(library(MASS))
arguments <- commandArgs(trailingOnly = TRUE)
for (number in arguments[-1]) {
  rows <- read.csv(file.path(arguments[1], paste0(number, ".csv")))
  rows$rating <- factor(rows$rating, ordered = TRUE)
  # polr's own start, a logistic fit of one threshold, is not finite for some dimensions: this one has no effect at all.
  below <- cumsum(table(rows$rating)) / nrow(rows)
  start <- c(rep(0, ncol(rows) - 1), qlogis(below[-length(below)]))
  for (control in list(list(), list(reltol = 1e-14, maxit = 2000))) {
    seconds <- system.time(fit <- suppressWarnings(polr(rating ~ ., data = rows, start = start, Hess = TRUE, control = control)))
    cat(number, sum(seconds[c("user.self", "sys.self")]), sprintf("%.9f", as.numeric(logLik(fit))), "\n")
  }
}
