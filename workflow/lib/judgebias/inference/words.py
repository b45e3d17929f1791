"""What the tables of inference call things, for figures to look for: apart, so that a changed computation redraws none."""

OWN, FAMILY, PLACEBO = "self", "family", "placebo"  # what the model of a cell is to its judge; placebo: of another family
RAW, DEBIASED, WITHOUT_SELF, WITHOUT_FAMILY = "raw", "debiased", "leave_self_out", "leave_family_out"  # scores of models
HUMAN = "human"
FEW_LABELLED = 30  # labelled prompts: what fewer say is not to be relied on
HUMANS, JUDGES, STRATA = "humans alone", "judges", "judges by dimension and relation"  # ways of estimating a human mean
NEVER = "never: the floor is above gamma"
UNKNOWN_TASTE = "taste of judges for single models is not known, as too few cells are neither self nor family"
OVERSIZED = "with so many prompts the study's own test calls unbiased judges biased more than twice as often as its level"
