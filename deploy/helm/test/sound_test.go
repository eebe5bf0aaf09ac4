package chart

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	strict "go.yaml.in/yaml/v3"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/yaml"
)

// kubeVersions are the versions of client-go whose schemas check the resources: those of the oldest Kubernetes that
// the chart supports, and of a recent one.
var kubeVersions = []string{"v0.25.9", "v0.37.2"}

// schemas returns the schemas of kubeVersions, in which server-side apply looks up fields, types and the keys of lists.
var schemas = sync.OnceValues(func() (all map[string]*typed.Parser, err error) {
	all = map[string]*typed.Parser{}
	for _, version := range kubeVersions {
		out, err := exec.Command("go", "mod", "download", "-json", "k8s.io/client-go@"+version).Output()
		var module struct{ Dir string }
		if err := errors.Join(err, json.Unmarshal(out, &module)); err != nil {
			return nil, fmt.Errorf("downloading the schemas of client-go %s: %w\n%s", version, err, out)
		}
		source, err := os.ReadFile(filepath.Join(module.Dir, "applyconfigurations/internal/internal.go"))
		if err != nil {
			return nil, err
		}
		_, text, _ := strings.Cut(string(source), "typed.YAMLObject(`")
		text, _, _ = strings.Cut(text, "`")
		if all[version], err = typed.NewParser(typed.YAMLObject(text)); err != nil {
			return nil, fmt.Errorf("the schemas of client-go %s: %w", version, err)
		}
	}
	return all, nil
})

// emptyArgument matches a flag without a value, and what templates print for no value.
var emptyArgument = regexp.MustCompile(`(?m)^ *- --[-.a-z]+=$|<nil>|<no value>|%!|=:$`)

// sound checks all resources of a rendered text: each key is there once, the types of Kubernetes and of operators know
// every field, and so do the schemas of kubeVersions.
func sound(t *testing.T, text string) error {
	t.Helper()
	parsers, err := schemas()
	if err != nil {
		t.Fatal(err)
	}
	if bad := emptyArgument.FindString(text); bad != "" {
		return fmt.Errorf("a value is missing: %q", bad)
	}
	for doc := range strings.SplitSeq("\n"+text, "\n---\n") {
		var o object
		var any map[string]any
		if err := strict.Unmarshal([]byte(doc), &any); err != nil {
			return fmt.Errorf("%w\n%s", err, doc)
		}
		if err := yaml.Unmarshal([]byte(doc), &o); err != nil || o.Kind == "" {
			return err
		}
		o.text = []byte(doc)
		decode := decoders[o.Kind]
		if decode == nil {
			return fmt.Errorf("no decoder of a %s", o.Kind)
		}
		decode(t, o)
		group, _ := any["apiVersion"].(string)
		if strings.Contains(group, ".") && !strings.Contains(group, ".k8s.io/") || strings.HasPrefix(group, "gateway.") {
			continue // a resource of an operator
		}
		name, v1, named := strings.Cut(group, "/")
		if !named {
			name, v1 = "core", group
		}
		name, _, _ = strings.Cut(name, ".")
		for version, p := range parsers {
			kind := p.Type("io.k8s.api." + name + "." + v1 + "." + o.Kind)
			if _, err := kind.FromYAML(typed.YAMLObject(doc)); err != nil {
				return fmt.Errorf("client-go %s: %s: %w\n%s", version, o.Kind, err, doc)
			}
		}
	}
	return nil
}

// TestUnsoundIsFound: a key that is there twice, a field that only one of kubeVersions has, and a port twice.
func TestUnsoundIsFound(t *testing.T) {
	for spec, want := range map[string]string{
		"{type: ClusterIP, type: ClusterIP}":       "already defined",
		"{trafficDistribution: PreferClose}":       "field not declared in schema",
		"{ports: [{port: 1}, {port: 1, name: a}]}": "duplicate entries",
	} {
		if err := sound(t, "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: "+spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", spec, err, want)
		}
	}
}
