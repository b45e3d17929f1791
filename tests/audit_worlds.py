"""Simulated observations of judges whose effects are known, and treatments that are only names."""

from dataclasses import dataclass

import numpy as np

from recuse.audit.treatments import ArmContrast, Treatment

PLAIN, TREATED = "plain", "treated"
BIASES = ("label", "order", "length", "majority", "distraction", "authority", "rich content")
BIASES += ("gender", "error", "style")


def treatment(name, contrast=None, **words):
    """A treatment with two arms and nothing to show."""
    contrasts = [contrast or ArmContrast("effect", TREATED, PLAIN)]
    words = {
        "measures": f"the effect of {name}",
        "source": "",
        "biased": (f"is moved by {name}", f"is moved against {name}"),
        "remedy": f"hide {name}",
    } | words
    return Treatment(name, arms=dict.fromkeys((PLAIN, TREATED)), contrasts=contrasts, **words)


TREATMENTS = [treatment(name) for name in BIASES]


@dataclass(frozen=True)
class World:
    """How a judge answers: value = level + quality of the prompt + effect + noise, as a judge gives
    it.

    Ratings are rounded to `steps` + 1 levels from 0 to 1, so that a high level has a ceiling.
    Verdicts are for the target, a tie or against it by thresholds at +-tie.
    """

    prompts: int = 600
    level: float = 0.6
    quality: float = 0.15  # standard deviations: of prompts,
    moved: float = 0.05  # of the effect from prompt to prompt,
    noise: float = 0.15  # of a reply,
    by_writer: float = 0.0  # and of the effect from writer to writer
    by_wording: float = 0.0  # how far the first and the last wording are from the middle
    wordings: int = 1
    writers: int = 0
    steps: int = 4  # of the scale; 0: verdicts on two answers
    tie: float = 0.1
    failing: tuple[float, float] = (0.0, 0.0)  # shares of replies, treated and plain

    @property
    def wording_effects(self):
        """What each wording adds to the effect, (wordings,)."""
        return self.by_wording * np.linspace(-1, 1, self.wordings)

    def values(self, latent):
        """What the judge replies, (...,)."""
        if not self.steps:
            return 0.5 + 0.5 * (np.sign(latent) * (np.abs(latent) > self.tie))
        return np.clip(np.round(latent * self.steps), 0, self.steps) / self.steps

    def latent(self, rng, effect, prompts):
        """Replies with and without the treatment, (2, prompts, wordings, writers)."""
        shape = (prompts, self.wordings, max(1, self.writers))
        quality = self.level + rng.normal(0, self.quality, prompts)[:, None, None]
        effects = effect + rng.normal(0, self.moved, prompts)[:, None, None]
        effects = effects + self.wording_effects[:, None]
        effects = effects + rng.normal(0, self.by_writer, max(1, self.writers))
        both = np.stack([quality + effects, np.broadcast_to(quality, shape)])
        return both + rng.normal(0, self.noise, (2, *shape))

    def truth(self, effect, size=400_000):
        """The expected difference of values, of the wordings, and of prompts and writers without
        number.
        """
        rng = np.random.default_rng(1)
        spread = np.sqrt(self.moved**2 + self.by_writer**2)
        quality = self.level + rng.normal(0, self.quality, size)
        effects = effect + rng.choice(self.wording_effects, size) + rng.normal(0, spread, size)
        treated = quality + effects + rng.normal(0, self.noise, size)
        plain = quality + rng.normal(0, self.noise, size)
        return float((self.values(treated) - self.values(plain)).mean())

    def observations(self, rng, effects, judge="judge"):
        """Rows for each treatment with its latent effect: name -> effect."""
        rows = []
        for name, effect in effects.items():
            values = self.values(self.latent(rng, effect, self.prompts))
            failed = rng.random(values.shape) < np.reshape(self.failing, (2, 1, 1, 1))
            for (arm, prompt, wording, writer), value in np.ndenumerate(values):
                missing = failed[arm, prompt, wording, writer]
                rows.append(
                    {
                        "judge": judge,
                        "treatment": name,
                        "arm": (TREATED, PLAIN)[arm],
                        "prompt": f"p{prompt:04d}",
                        "model": "model",
                        "other": "" if self.steps else "other",
                        "order": "",
                        "writer": f"writer {writer}" if self.writers else "",
                        "dimension": "overall",
                        "wording": f"wording {wording}",
                        "replicate": "1",
                        "own": "",
                        "words": 100,
                        "value": "" if missing else float(value),
                        "reason": "refusal" if missing else "",
                    }
                )
        return rows
