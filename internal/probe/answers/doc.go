// Package answers judges the content of answers. A Contract checks tool calls and JSON. A
// Baseline detects damaged answers, for example by a model with broken weights. The package sends
// nothing and is deterministic.
package answers
