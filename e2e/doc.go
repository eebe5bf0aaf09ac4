// Package e2e tests the synthetic binary against servers of other projects. The tests have
// the build tag e2e and are run by e2e/run, which installs the servers;
// docs/background/e2e.md describes them.
package e2e
