// Package e2e holds end-to-end tests: the synthetic binary against servers that
// nobody of this project wrote. They build with the tag e2e and are run by
// e2e/run, which installs the servers; docs/background/e2e.md describes them.
package e2e
