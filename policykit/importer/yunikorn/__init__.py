"""YuniKorn's queue configuration as a policy states it."""
