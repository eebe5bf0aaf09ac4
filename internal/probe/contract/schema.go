package contract

import (
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema is a JSON schema that texts are held to.
type Schema struct {
	compiled *jsonschema.Schema
}

// place stands for a schema's own address, to which its references are relative.
const place = "schema.json"

// mostJudged is how many bytes of text are held to a schema, beyond being JSON:
// each violation in it has a finding of its own.
const mostJudged = 64 << 10

// Compile reads a JSON schema, of draft 2020-12 unless its $schema says
// otherwise. What it refers to must be in it: nothing is fetched, no file opened.
func Compile(schema map[string]any) (*Schema, error) {
	c := jsonschema.NewCompiler()
	c.UseLoader(closed{})
	if err := c.AddResource(place, schema); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(place)
	if err != nil {
		return nil, errors.New(findings(err))
	}
	return &Schema{compiled}, nil
}

// Check says of a text that it is "no JSON", or "against the schema", and where.
func (s *Schema) Check(text string) error {
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return fmt.Errorf("no JSON: %w", err)
	}
	if len(text) > mostJudged {
		return nil
	}
	if err := s.compiled.Validate(v); err != nil {
		return fmt.Errorf("against the schema: %s", findings(err))
	}
	return nil
}

// findings are the lines of an error of the library, as one.
func findings(err error) string {
	head, rest, many := strings.Cut(err.Error(), "\n")
	if !many {
		return head
	}
	lines := strings.Split(rest, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(strings.TrimSpace(line), "- ")
	}
	return strings.Join(lines, "; ")
}

// closed loads nothing.
type closed struct{}

// Load implements the library's URLLoader.
func (closed) Load(url string) (any, error) {
	return nil, fmt.Errorf("%q is outside of the schema", url)
}
