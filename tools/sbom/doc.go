// Package sbom is a module of its own, so that its go.sum pins the tool that writes bills
// of materials and the program does not depend on it. It also tests the bill.
package sbom
