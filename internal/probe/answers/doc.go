// Package answers checks tool calls and JSON in answers. It sends nothing and is deterministic.
package answers
