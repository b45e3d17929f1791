# Equation 1 by lm and sandwich: Rscript equation1.R <folder with raw.csv, scales.csv, families.csv> <output>
folder <- commandArgs(TRUE)[1]
read <- function(name) read.csv(file.path(folder, name), check.names = FALSE)
frame <- read("raw.csv")
scales <- read("scales.csv")
families <- with(read("families.csv"), setNames(family, model))
place <- match(frame$dimension, scales$dimension)
unit <- function(score) (score - scales$low[place]) / (scales$high - scales$low)[place]
frame$rating_unit <- unit(frame$rating)
frame$gt_unit <- unit(frame$gt)
is_own <- frame$judge == frame$model
family <- families[frame$judge]
frame$own <- ifelse(is_own, frame$judge, " none")
frame$same_family <- ifelse(!is_own & family == families[frame$model], family, " none")
fitted <- lm(rating_unit ~ 0 + judge + judge:gt_unit + own + same_family + dimension, frame)
kept <- !is.na(coef(fitted))
names <- sub("^(judge|own|same_family|dimension)(.*?)(:gt_unit)?$", "\\1[\\2]\\3", names(coef(fitted))[kept], perl = TRUE)
errors <- sqrt(diag(sandwich::vcovHC(fitted, type = "HC0")))
rows <- data.frame(names, sprintf("%.17g", coef(fitted)[kept]), sprintf("%.17g", errors))
write.table(rows, commandArgs(TRUE)[2], sep = ",", row.names = FALSE, col.names = FALSE)
