package config

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"synthetic/internal/config/yamlform"
	"synthetic/internal/probe/target"
	"synthetic/internal/sidecar/discovery"
	"synthetic/internal/sidecar/discovery/kubernetes"
)

// TestPresets checks that the allowed presets exist, and what each finds in sample objects of its project.
func TestPresets(t *testing.T) {
	var f filePresets
	form, err := yamlform.Decode("presets.yml", presets, "", &f)
	if err != nil || form.Err() != nil {
		t.Fatal(err, form.Err())
	}
	var names []string
	for _, p := range f.Presets {
		names = append(names, p.Name)
	}
	i := slices.IndexFunc(yamlform.Fields(reflectGroup()), func(k yamlform.Field) bool { return k.Name == "preset" })
	if diff := cmp.Diff(yamlform.Fields(reflectGroup())[i].Enum, names); diff != "" {
		t.Errorf("enum and presets.yml (-enum +file):\n%s", diff)
	}
	var samples map[string]struct {
		Objects, With []map[string]any
		Want          []map[string]string
	}
	text, err := os.ReadFile("testdata/presets.yml")
	if err == nil {
		err = yaml.Unmarshal(text, &samples)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			cfg, err := Parse("synthetic.yml", []byte("discovery: [{name: g, preset: "+name+"}]"), ".")
			if err != nil {
				t.Fatal(err)
			}
			found, err := cfg.Discovery[0].Sources[0].(*kubernetes.Config).Find(objectsOf(samples[name].Objects), objectsOf(samples[name].With))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(samples[name].Want, labelsOf(found)); diff != "" || len(found) == 0 {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestDiscoveryHowTo checks that the examples of the how-to load, and that it shows the presets unchanged.
func TestDiscoveryHowTo(t *testing.T) {
	page, err := os.ReadFile("../../docs/how-to/discovery.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "```\n"+string(presets)+"```") {
		t.Error("the presets of the how-to are not those of presets.yml: copy them there")
	}
	examples := strings.Split(string(page), "```yaml\n")[1:]
	if len(examples) < 5 {
		t.Errorf("%d examples, want at least 5", len(examples))
	}
	for _, e := range examples {
		text, _, _ := strings.Cut(e, "```")
		if _, err := Parse("example", []byte(text), "."); err != nil {
			t.Errorf("%s\n%v", text, err)
		}
	}
}

func objectsOf(in []map[string]any) (out []*unstructured.Unstructured) {
	for _, o := range in {
		out = append(out, &unstructured.Unstructured{Object: o})
	}
	return out
}

func labelsOf(in []model.LabelSet) (out []map[string]string) {
	for _, set := range in {
		one := map[string]string{}
		for k, v := range set {
			if !strings.HasPrefix(string(k), "__") {
				one[string(k)] = string(v)
			}
		}
		out = append(out, one)
	}
	return out
}

// TestFrontDoors checks which presets find front doors, which share the service of their replicas.
func TestFrontDoors(t *testing.T) {
	for text, want := range map[string]*target.Worker{
		"preset: inferencepool-gateway": {}, "preset: dynamo": {}, "preset: production-stack": {}, "preset: inferencepool": nil,
		"preset: inferencepool-gateway, target: {service: chat, worker: x-pod}": {Header: "x-pod"},
	} {
		cfg, err := Parse("synthetic.yml", []byte("discovery: [{name: g, "+text+"}]"), ".")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, cfg.Discovery[0].Template.Worker); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// TestExpandDiscovery checks that found targets replace their group, also in selections.
func TestExpandDiscovery(t *testing.T) {
	const text = `
targets: [{base_url: "http://a:8000"}]
discovery:
  - name: pods
    file_sd_configs: [{files: [b.json]}]
    target: {model: llama, labels: {team: x}, service: chat}
slos:
  - {sli: ttft, threshold: 1s, objective: 99%, targets: [pods]}
  - {sli: availability, objective: 99%}
`
	cfg, err := Parse("synthetic.yml", []byte(text), ".")
	if err != nil {
		t.Fatal(err)
	}
	jobs := func(c *Config) (out []string) {
		for _, j := range c.Jobs {
			names := []string{j.Target.Name, j.Target.BaseURL, j.Target.Model, j.Target.Service}
			for _, o := range j.Objectives {
				names = append(names, o.Name+" of "+strings.Join(o.Targets, "+"))
			}
			out = append(out, strings.Join(names, ", "))
		}
		return out
	}
	for _, tc := range []struct {
		name string
		got  *Config
		want []string
	}{
		{"nothing yet", cfg.WithDiscovered(nil), []string{"a-8000, http://a:8000/v1, , , availability of "}},
		{"two", cfg.WithDiscovered(map[string][]discovery.Target{"pods": {{Name: "p1", BaseURL: "http://b:1/v1"}, {Name: "p2", BaseURL: "http://b:2/v1", Model: "qwen", Service: "other"}}}), []string{
			"a-8000, http://a:8000/v1, , , availability of ",
			"pods/p1, http://b:1/v1, llama, chat, ttft of pods/p1+pods/p2, availability of ",
			"pods/p2, http://b:2/v1, qwen, other, ttft of pods/p1+pods/p2, availability of ",
		}},
		{"rules", cfg.ForRules(), []string{"a-8000, http://a:8000/v1, , , availability of ", "pods/*, , llama, chat, ttft of pods/*, availability of "}},
	} {
		if diff := cmp.Diff(tc.want, jobs(tc.got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
	if none := cfg.WithDiscovered(nil).SLOs[0].Targets; len(none) != 1 {
		t.Errorf("an objective of a group without targets is of %q: every target", none)
	}
}

func reflectGroup() reflect.Type { return reflect.TypeFor[fileGroup]() }

// TestADoorThatIsFound checks that a preset may provide the service of a front door.
func TestADoorThatIsFound(t *testing.T) {
	cfg, err := Parse("synthetic.yml", []byte("discovery: [{name: gates, preset: inferencepool-gateway, target: {worker: auto}}]"), ".")
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Discovery[0].Template.Worker == nil {
		t.Error("its targets are no front doors")
	}
}
