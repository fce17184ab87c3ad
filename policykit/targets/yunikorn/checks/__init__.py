"""What YuniKorn checks of a configuration, one module each. All report a path and a rule of `validator`."""
