package config

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"synthetic/internal/probe/target"
	"synthetic/internal/study/runfile"
	"synthetic/internal/study/sweep"
)

// variants resolves the variants, and names those that have no name.
func (b *planner) variants(in []fileVariant) []sweep.Variant {
	taken := map[string]string{}
	out := make([]sweep.Variant, len(in))
	for i, v := range in {
		path := index("variants", i)
		out[i] = b.variant(path, v)
		if out[i].Name != "" {
			b.name(path, out[i].Name, "variant", taken)
		}
	}
	return out
}

func (b *planner) variant(path string, f fileVariant) sweep.Variant {
	preset := f.BaseURL.preset()
	if preset != "" && !slices.Contains(b.presets, preset) {
		b.mistake(path+".base_url", shown(string(f.BaseURL)), "is not a preset of this synthetic", suggest(preset, b.presets, "presets"))
	}
	f.fileEndpoint.BaseURL = f.BaseURL.address()
	v := sweep.Variant{
		Name: cmp.Or(f.Name, preset, f.fileEndpoint.BaseURL.name()), Preset: preset,
		Target:     b.endpoint(path, f.fileEndpoint),
		Metrics:    b.metrics(path+".metrics_urls", f),
		Switch:     sweep.Switch{Command: f.Switch.Command, Timeout: dur(f.Switch.Timeout)},
		Deployment: b.lines(path+".deployment", f.Deployment),
	}
	v.Target.Name = v.Name
	v.Target.Connection = target.Connection(f.Connection)
	v.Target.Extra = b.extraBody(path+".extra_body", f.ExtraBody)
	if at := path + ".switch"; b.has(at) && len(f.Switch.Command) == 0 && b.fine(at) {
		b.mistake(at, "", "has no command", "write command: [PROGRAM, ARGUMENT], or remove switch")
	}
	return v
}

// metrics checks the addresses of a deployment's own metrics.
func (b *planner) metrics(path string, f fileVariant) []string {
	if !b.has(path) {
		u, err := url.Parse(string(f.fileEndpoint.BaseURL))
		if err != nil || u.Host == "" {
			return nil
		}
		return []string{u.Scheme + "://" + u.Host + "/metrics"}
	}
	for i, text := range f.MetricsURLs {
		at := index(path, i)
		if !b.fine(at) {
			continue
		}
		u, err := url.Parse(text)
		switch {
		case strings.Contains(text, "@"):
			b.mistake(at, "", "contains user information (not shown)", "leave out what stands before the @")
		case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
			b.mistake(at, shown(text), "is not an http address", "write for example http://127.0.0.1:8000/metrics")
		}
	}
	return f.MetricsURLs
}

// lines turns a mapping into lines of the deployment table, in the order of
// the file.
func (b *planner) lines(path string, in map[string]string) []runfile.Parameter {
	names := slices.SortedFunc(maps.Keys(in), func(x, y string) int {
		a, c := b.place(join(path, shownKey(x))), b.place(join(path, shownKey(y)))
		return cmp.Or(cmp.Compare(a.Line, c.Line), cmp.Compare(a.Column, c.Column))
	})
	var out []runfile.Parameter
	for _, name := range names {
		out = append(out, runfile.Parameter{Name: name, Value: in[name], Source: "plan"})
	}
	return out
}

// redacted is the text of the plan without the values of headers and extra
// body fields, which may be secret: from each to the end of its line.
func (b *planner) redacted(data []byte) string {
	lines := strings.SplitAfter(string(data), "\n")
	for _, node := range secretsIn(b.places[""], false) {
		if node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 || strings.Contains(node.Value, "\n") {
			return "(not kept: the plan has headers or extra_body fields of several lines)\n"
		}
		line := []rune(strings.TrimRight(lines[node.Line-1], "\r\n"))
		if at := node.Column - 1; at <= len(line) {
			lines[node.Line-1] = fmt.Sprintf("%s(not kept)\n", string(line[:at]))
		}
	}
	return strings.Join(lines, "")
}

// secretsIn lists the single values under keys that may hold secrets.
func secretsIn(node *yaml.Node, secret bool) []*yaml.Node {
	var out []*yaml.Node
	switch node.Kind {
	case yaml.ScalarNode:
		if secret {
			return []*yaml.Node{node}
		}
	case yaml.SequenceNode:
		for _, n := range node.Content {
			out = append(out, secretsIn(n, secret)...)
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			key := node.Content[i].Value
			out = append(out, secretsIn(node.Content[i+1], secret || key == "headers" || key == "extra_body")...)
		}
	}
	return out
}
