package rules_test

func regressionScenarios() []scenario { return nil }
