// Package contract judges what an answer says against what was asked for: calls
// of the tools that a workload has, and text by its JSON schema. It is pure.
package answers

import (
	"errors"
	"fmt"

	"synthetic/internal/probe/workload"
)

// Contract is what the answers of a workload have to keep to. A nil *Contract
// holds them to nothing. It is safe for concurrent use.
type Contract struct {
	arguments map[string]*Schema // by tool
	choice    string
	format    *Schema
}

// Answer is what is judged.
type Answer struct {
	Text  string
	Calls []workload.ToolCall
	// Cut says that the limit of tokens ended the answer: what it lacks at its
	// end is no fault of the deployment.
	Cut bool
	// Anonymous says that the API has no ids for calls.
	Anonymous bool
	// Free says that the request left it to the model whether to call a tool,
	// whatever the workload asks for.
	Free bool
}

// Of compiles the schemas of a workload; nil if it has neither tools nor a format.
// An error names the tool, or the format.
func Of(spec workload.Spec) (*Contract, error) {
	if len(spec.Tools) == 0 && spec.Format == nil {
		return nil, nil
	}
	c := &Contract{arguments: map[string]*Schema{}, choice: spec.ToolChoice}
	for _, t := range spec.Tools {
		s, err := Compile(t.Parameters)
		if err != nil {
			return nil, fmt.Errorf("compiling the parameters of the tool %q: %w", t.Name, err)
		}
		c.arguments[t.Name] = s
	}
	if spec.Format != nil {
		s, err := Compile(spec.Format.Schema)
		if err != nil {
			return nil, fmt.Errorf("compiling the schema of the response format: %w", err)
		}
		c.format = s
	}
	return c, nil
}

// Calls says what is wrong with the calls of an answer, those included that stand
// in its text.
func (c *Contract) Calls(a Answer) error {
	if c == nil || len(c.arguments) == 0 {
		return nil
	}
	if m := leaked(a.Text); m != "" {
		return fmt.Errorf("the text has markup of the model's template, %q: its calls were not read as such", m)
	}
	ids := map[string]bool{}
	for i, call := range a.Calls {
		if err := c.call(call, a); err != nil {
			return fmt.Errorf("call %d: %w", i+1, err)
		}
		if !a.Anonymous && (call.ID == "" || ids[call.ID]) {
			return fmt.Errorf("call %d has no id of its own, but %q: its result could not be told from others", i+1, call.ID)
		}
		ids[call.ID] = true
	}
	return c.chosen(a)
}

// call judges one call.
func (c *Contract) call(call workload.ToolCall, a Answer) error {
	arguments := c.arguments[call.Name]
	if arguments == nil {
		return fmt.Errorf("there is no tool %.64q", call.Name)
	}
	if a.Cut {
		return nil
	}
	if err := arguments.Check(call.Arguments); err != nil {
		return fmt.Errorf("the arguments of %q are %w", call.Name, err)
	}
	return nil
}

// chosen judges whether there are the calls that the request demanded.
func (c *Contract) chosen(a Answer) error {
	switch {
	case a.Free || c.choice == "" || c.choice == workload.ChoiceAuto:
	case c.choice == workload.ChoiceNone:
		if len(a.Calls) > 0 {
			return errors.New("a tool was called although tool_choice is none")
		}
	case len(a.Calls) == 0 && !a.Cut:
		return fmt.Errorf("no tool was called although tool_choice is %s", c.choice)
	case c.choice != workload.ChoiceRequired:
		for _, call := range a.Calls {
			if call.Name != c.choice {
				return fmt.Errorf("the tool %q was called although tool_choice is %s", call.Name, c.choice)
			}
		}
	}
	return nil
}

// Text says where the text of an answer is not what the response format asks
// for. An answer that calls tools instead has none.
func (c *Contract) Text(a Answer) error {
	if c == nil || c.format == nil || a.Cut || len(a.Calls) > 0 && len(c.arguments) > 0 {
		return nil
	}
	if err := c.format.Check(a.Text); err != nil {
		return fmt.Errorf("the answer is %w", err)
	}
	return nil
}
