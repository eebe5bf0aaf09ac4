package chart

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	core "k8s.io/api/core/v1"
)

// TestAParentChartTurnsItOnAndOff: a parent chart can disable this chart with a condition,
// and pass it global values.
func TestAParentChartTurnsItOnAndOff(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "charts", "synthetic"), os.DirFS(chartDir)); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"Chart.yaml":  "apiVersion: v2\nname: platform\nversion: 1.0.0\ndependencies:\n  - {name: synthetic, version: 0.1.0, condition: synthetic.enabled}\n",
		"values.yaml": "global: {region: eu}\nsynthetic:\n  image: {repository: registry.example.com/synthetic}\n  config: {targets: [{base_url: 'http://a.example/v1'}]}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for value, want := range map[string]bool{"true": true, "false": false} {
		out, errs, err := helmOn(t, dir, "--set=synthetic.enabled="+value)
		if err != nil {
			t.Fatalf("%v\n%s", err, errs)
		}
		if got := has(split(t, out), "StatefulSet"); got != want {
			t.Errorf("enabled=%s: installed = %v", value, got)
		}
	}
	for _, section := range []string{"ingress", "livenessProbe", "networkPolicy", "service", "state"} {
		out, errs, err := helms(t, dir, "--values="+write(t, "synthetic: {"+section+": null}"))
		if err == nil {
			err = sound(t, out)
		} else if strings.Contains(errs, section) && !strings.Contains(errs, "nil pointer") {
			err = nil
		}
		if err != nil {
			t.Errorf("%s: %v\n%s", section, err, errs)
		}
	}
}

// TestNamesOfAnyRelease: release names may contain dots and begin with a digit, users may
// set any name, and two long names must stay different after truncation.
func TestNamesOfAnyRelease(t *testing.T) {
	const target = "config.targets[0].base_url=http://a.example/v1"
	seen := map[string]string{}
	for _, set := range []string{
		"fullnameOverride=v1.2", "fullnameOverride=Prober", "fullnameOverride=7b", "fullnameOverride=__",
		"nameOverride=My.Prober_x",
		"fullnameOverride=" + strings.Repeat("long.", 12) + "a", "fullnameOverride=" + strings.Repeat("long.", 12) + "b",
	} {
		objects := render(t, "--set", target+",service.enabled=true,"+set)
		validNames(t, objects)
		name := single(t, objects, "StatefulSet").Metadata.Name
		if other := seen[name]; other != "" {
			t.Errorf("%s and %s are both %s", other, set, name)
		}
		seen[name] = set
		if p := decodeAs[core.Pod](t, single(t, objects, "Pod")); len(p.Name) > 63 {
			t.Errorf("%s: %s", set, p.Name)
		}
	}
}
