package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	prom "github.com/prometheus/prometheus/discovery"
	_ "github.com/prometheus/prometheus/discovery/dns"  // registers itself in prom.Configs
	_ "github.com/prometheus/prometheus/discovery/file" // registers itself in prom.Configs
	promhttp "github.com/prometheus/prometheus/discovery/http"
	"github.com/prometheus/prometheus/model/relabel"
	"go.yaml.in/yaml/v3"

	"synthetic/internal/config/yamlform"
	"synthetic/internal/fleet"
	"synthetic/internal/probe/dialect"
	"synthetic/internal/probe/target"
)

func readGroups(r *reader, in []fileGroup) []fleet.Group {
	var out []fleet.Group
	for i, f := range in {
		path := yamlform.Index("discovery", i)
		g := readGroup(r, path, f)
		g.Sources = readSources(r, path, f)
		if r.Has(path + ".lease") {
			r.NoEffect(path, "beside lease", "remove it", "min_targets")
		} else if g.Least > g.Most && r.Valid(path+".min_targets", path+".max_targets") {
			r.Mistake(path+".min_targets", fmt.Sprint(g.Least), fmt.Sprintf("is more than max_targets, %d", g.Most), "raise max_targets")
		}
		if hasCredentials(g.Template) && r.Valid(path+".allowed_hosts") {
			checkKeyHosts(r, path+".allowed_hosts", g)
		}
		out = append(out, g)
	}
	return out
}

// checkKeyHosts checks which hosts receive the key of a group's targets.
func checkKeyHosts(r *reader, at string, g fleet.Group) {
	if g.Lease > 0 {
		if i := slices.IndexFunc(g.AllowedHosts, fleet.Everywhere); i >= 0 {
			r.Mistake(yamlform.Index(at, i), g.AllowedHosts[i], "cannot be combined with a key: any client of this process could have the key sent anywhere", "name the hosts that may receive it")
		}
	} else if g.AllowedHosts == nil {
		r.Mistake(at, "", "is missing: the key of target would be sent to every discovered host", `name the hosts that may receive it, for example allowed_hosts: ["*.svc", 10.0.0.0/8]`)
	}
}

// readGroup resolves the keys of a group other than its source.
func readGroup(r *reader, path string, f fileGroup) fleet.Group {
	at := path + ".target"
	t := withSettings(r, at, readEndpoint(r, at, "", f.Target.fileAPI), f.Target.fileSettings)
	t.Name, t.BaseURL = f.Name, ""
	register(r, path, t.Name, f.Target.fileSettings)
	for i, host := range f.AllowedHosts {
		if err := fleet.CheckHost(host); err != nil {
			r.Mistake(yamlform.Index(path+".allowed_hosts", i), host, err.Error(), "write for example *.svc")
		}
	}
	return fleet.Group{
		Template: t, Relabel: relabelConfigs(r, path+".relabel_configs", f.Relabel), AllowedHosts: f.AllowedHosts,
		Least: f.MinTargets, Most: f.MaxTargets, Lease: f.Lease, Address: apiAddress(t.API),
	}
}

// hasCredentials reports whether requests to a target carry a key.
func hasCredentials(t target.Target) bool {
	h := t.HTTP
	return t.Key != target.Credential{} || h.Authorization != nil || h.BasicAuth != nil || h.OAuth2 != nil || h.HTTPHeaders != nil || h.TLSConfig.KeyFile != ""
}

// apiAddress completes the addresses of an API.
type apiAddress dialect.Name

func (a apiAddress) Base(text string) (string, error) {
	var to address
	if m := to.Parse("!!str", text); m != nil {
		if m.Value == "" {
			return "", errors.New("its address " + m.Message + ": " + m.Remedy)
		}
		return "", fmt.Errorf("its address %q %s: %s", m.Value, m.Message, m.Remedy)
	}
	return to.base(dialect.Name(a)), nil
}

// readSources resolves the source of a group's targets.
func readSources(r *reader, path string, f fileGroup) []prom.Config {
	for key, items := range map[string][]map[string]any{
		"kubernetes_sd_configs": f.Kubernetes, "file_sd_configs": f.File, "http_sd_configs": f.HTTP, "dns_sd_configs": f.DNS,
	} {
		at := path + "." + key
		switch {
		case !r.Has(at):
		case len(f.Kubernetes) > 0 && !hasKubernetes:
			r.Mistake(at, "", "needs the discovery of Kubernetes, which this build lacks", "build with -tags kubernetes")
		default:
			return promSources(r, at, key, items)
		}
	}
	if !r.Has(path+".lease") && r.Valid(path) {
		r.Mistake(path, f.Name, "has no source of targets", "write one of kubernetes_sd_configs, file_sd_configs, http_sd_configs, dns_sd_configs or lease")
	}
	return nil
}

// promSources decodes a list of Prometheus' service discovery. No message repeats a value.
func promSources(r *reader, at, key string, items []map[string]any) []prom.Config {
	if err := redecode(map[string]any{key: items}, new(prom.Configs)); err != nil {
		r.Mistake(at, "", "is not such a list ("+err.Error()+")", "write it as Prometheus' "+key)
		return nil
	}
	for i, item := range items {
		here := yamlform.Index(at, i)
		if resolveClient(r, here, item); key == "http_sd_configs" {
			r.NoEffect(here, "because redirects are never followed", "remove it", "follow_redirects")
		}
		files, _ := item["files"].([]any)
		for n, pattern := range files {
			if pattern, ok := pattern.(string); ok {
				files[n] = r.resolve(pattern)
			}
		}
	}
	var sources prom.Configs
	if err := redecode(map[string]any{key: items}, &sources); err != nil || !r.Valid(at) {
		return nil // only the paths in items have changed
	}
	for _, s := range sources {
		if h, ok := s.(*promhttp.SDConfig); ok {
			h.HTTPClientConfig.FollowRedirects = false
			target.ByReference(&h.HTTPClientConfig)
		}
	}
	return sources
}

func relabelConfigs(r *reader, at string, items []map[string]any) []*relabel.Config {
	var out []*relabel.Config
	err := redecode(items, &out)
	for _, c := range out {
		if err == nil {
			err = c.Validate(model.LegacyValidation)
		}
	}
	if err != nil {
		r.Mistake(at, "", "is not a relabelling ("+err.Error()+")", "write it as Prometheus' <relabel_config>")
		return nil
	}
	return out
}

// redecode decodes a free value strictly into a type of Prometheus. The error repeats no value.
func redecode(from, to any) error {
	text, err := yaml.Marshal(from)
	if err != nil {
		return err
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(to); err != nil {
		return errors.New(withoutValues(err))
	}
	return nil
}

// withoutValues returns the text of a library's error without the values that it repeats.
func withoutValues(err error) string {
	return strings.Join(strings.Fields(libraryDetail.ReplaceAllString(err.Error(), "")), " ")
}
