package chart

import (
	"os"
	"slices"
	"strings"
	"testing"

	rbac "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// TestDiscoveryMayReadWhatItsPresetsWatch compares the chart's RBAC with the resources in
// the presets file.
func TestDiscoveryMayReadWhatItsPresetsWatch(t *testing.T) {
	type watched struct{ Resource string }
	var file struct {
		Presets []struct {
			Name       string
			Kubernetes struct {
				watched
				With watched
			}
		}
	}
	text, err := os.ReadFile("../../../internal/config/presets.yml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &file); err != nil || len(file.Presets) == 0 {
		t.Fatalf("%d presets: %v", len(file.Presets), err)
	}
	wide := render(t, "--values="+chartDir+"/ci/existing-values.yaml")
	rules := decodeAs[rbac.ClusterRole](t, single(t, wide, "ClusterRole")).Rules
	for _, preset := range file.Presets {
		for _, name := range []string{preset.Kubernetes.Resource, preset.Kubernetes.With.Resource} {
			if name != "" && !allowed(rules, name) {
				t.Errorf("preset %s watches %s, which no rule allows", preset.Name, name)
			}
		}
	}
}

// allowed reports whether the rules permit listing a resource, written as
// RESOURCE.VERSION.GROUP, or RESOURCE.VERSION for the core group.
func allowed(rules []rbac.PolicyRule, name string) bool {
	resource, rest, _ := strings.Cut(name, ".")
	_, group, _ := strings.Cut(rest, ".")
	return slices.ContainsFunc(rules, func(r rbac.PolicyRule) bool {
		return slices.Contains(r.APIGroups, group) && slices.Contains(r.Resources, resource)
	})
}

// TestDiscoveryMayReadAndNoMore: the rights are read-only, cover the named namespaces or
// all, and are bound to the pods' service account.
func TestDiscoveryMayReadAndNoMore(t *testing.T) {
	objects := render(t, "--values="+chartDir+"/ci/secret-values.yaml", "--set=rbac.namespaces={models,canaries}")
	var in []string
	for _, o := range objects {
		switch o.Kind {
		case "Role":
			in = append(in, o.Metadata.Namespace)
			readsOnly(t, decodeAs[rbac.Role](t, o).Rules)
		case "RoleBinding":
			b := decodeAs[rbac.RoleBinding](t, o)
			binds(t, b.RoleRef, b.Subjects, "Role", b.Name, podsOf(t, objects).Spec.ServiceAccountName)
		}
	}
	slices.Sort(in)
	if !slices.Equal(in, []string{"canaries", "models"}) {
		t.Errorf("roles in %q", in)
	}
	wide := render(t, "--values="+chartDir+"/ci/existing-values.yaml")
	role := decodeAs[rbac.ClusterRole](t, single(t, wide, "ClusterRole"))
	readsOnly(t, role.Rules)
	b := decodeAs[rbac.ClusterRoleBinding](t, single(t, wide, "ClusterRoleBinding"))
	binds(t, b.RoleRef, b.Subjects, "ClusterRole", role.Name, podsOf(t, wide).Spec.ServiceAccountName)
}

func readsOnly(t *testing.T, rules []rbac.PolicyRule) {
	t.Helper()
	if len(rules) == 0 {
		t.Error("no rules")
	}
	for _, r := range rules {
		if !slices.Equal(r.Verbs, []string{"list", "watch"}) || slices.Contains(r.Resources, "secrets") || slices.Contains(r.Resources, "*") {
			t.Errorf("got %+v", r)
		}
	}
}

func binds(t *testing.T, ref rbac.RoleRef, to []rbac.Subject, kind, role, account string) {
	t.Helper()
	if ref.Kind != kind || ref.Name != role || len(to) != 1 || to[0].Name != account || to[0].Namespace != "probing" {
		t.Errorf("%+v to %+v, want %s %s to %s", ref, to, kind, role, account)
	}
}
