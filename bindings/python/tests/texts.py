"""The texts that tests memorize."""

OWL = "The owl reads at night by the light of the moon. In the morning she sleeps in the old tower."
CAT = "The cat sleeps all day on the warm red roof. Marta keeps the spare key under the blue stone."
