// Package sbom holds the tool that writes bills of materials, as a module of
// its own so that go.sum pins the tool and the program needs none of it, and
// the test of what the tool writes.
package sbom
