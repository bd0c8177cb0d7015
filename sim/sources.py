"""The texts whose claims the ledger tests, by title."""

LENS = "The distributional lens of post-training"
GRADIENTS = "On SFT, RL, and on-policy distillation"
KL_VIEW = "A KL view of post-training losses"
STATES = "Post-training is about states, not tokens"
CONTEXTS = "Rethinking supervised fine-tuning"
