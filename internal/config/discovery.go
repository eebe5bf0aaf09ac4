package config

import (
	"bytes"
	_ "embed" // the presets
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	prom "github.com/prometheus/prometheus/discovery"
	_ "github.com/prometheus/prometheus/discovery/dns"  // its part of prom.Configs
	_ "github.com/prometheus/prometheus/discovery/file" // its part of prom.Configs
	promhttp "github.com/prometheus/prometheus/discovery/http"
	"github.com/prometheus/prometheus/model/relabel"
	"go.yaml.in/yaml/v3"

	"synthetic/internal/config/yamlform"
	"synthetic/internal/probe/target"
	"synthetic/internal/sidecar/discovery"
	"synthetic/internal/sidecar/discovery/kubernetes"
)

//go:embed presets.yml
var presets []byte

// filePresets is the shape of presets.yml.
type filePresets struct {
	Presets []struct {
		Name       string         `yaml:"name"`
		Kubernetes fileKubernetes `yaml:"kubernetes"`
		Target     struct {
			Worker string `yaml:"worker"`
		} `yaml:"target"`
	} `yaml:"presets"`
}

// preset returns the block of a preset, and the Worker of its targets, which is nil
// unless they are routers.
func preset(name string) (fileKubernetes, *target.Worker) {
	if name == "" {
		return fileKubernetes{}, nil
	}
	var f filePresets
	form, err := yamlform.Decode("presets.yml", presets, "", &f)
	if err == nil {
		err = form.Err()
	}
	if err != nil {
		panic(err) // a test reads them all
	}
	for _, p := range f.Presets {
		switch {
		case p.Name != name:
		case p.Target.Worker == "auto":
			return p.Kubernetes, &target.Worker{}
		default:
			return p.Kubernetes, nil
		}
	}
	return fileKubernetes{}, nil
}

// requireSource refuses a configuration that has no targets and cannot find any.
func (b *builder) requireSource() {
	if !b.Has("targets") && !b.Has("discovery") {
		b.Mistake("targets", "", "is missing", `write for example targets: [{base_url: "http://127.0.0.1:8000/v1"}], or discovery`)
	}
}

// groups resolves the groups of targets.
func (b *builder) groups(in []fileGroup) []discovery.Group {
	var out []discovery.Group
	for i, f := range in {
		path := yamlform.Index("discovery", i)
		g := b.group(path, f)
		known, worker := preset(f.Preset)
		if !b.Has(path + ".target.worker") {
			g.Template.Worker = worker
		}
		g.Sources = b.sources(path, f, known)
		if b.Has(path + ".lease") {
			b.NoEffect(path, "beside lease", "remove it", "min_targets")
		} else if g.Least > g.Most && b.Valid(path+".min_targets", path+".max_targets") {
			b.Mistake(path+".min_targets", fmt.Sprint(g.Least), fmt.Sprintf("is more than max_targets, %d", g.Most), "raise max_targets")
		}
		if credentialed(g.Template) && b.Valid(path+".allowed_hosts") {
			b.keyHosts(path+".allowed_hosts", g)
		}
		out = append(out, g)
	}
	return out
}

// keyHosts checks the hosts that get the key of a group's targets.
func (b *builder) keyHosts(at string, g discovery.Group) {
	if g.Lease > 0 {
		if i := slices.IndexFunc(g.AllowedHosts, discovery.Everywhere); i >= 0 {
			b.Mistake(yamlform.Index(at, i), g.AllowedHosts[i], "stands beside a key: any client of this process could have the key sent anywhere", "name the hosts that may get it")
		}
	} else if g.AllowedHosts == nil {
		b.Mistake(at, "", "is missing: the key of target would be sent to every discovered host", `name the hosts that may get it, for example allowed_hosts: ["*.svc", 10.0.0.0/8]`)
	}
}

// group resolves the keys of a group other than its source.
func (b *builder) group(path string, f fileGroup) discovery.Group {
	at := path + ".target"
	t := b.spoken(at, fileEndpoint{fileReach: f.Target.fileReach}, f.Target.fileAPI)
	t = b.sent(at, t, f.Target.fileSent)
	t.Name, t.BaseURL = f.Name, ""
	b.named(path, at, &t, f.Target.Price)
	for i, host := range f.AllowedHosts {
		if err := discovery.CheckHost(host); err != nil {
			b.Mistake(yamlform.Index(path+".allowed_hosts", i), host, err.Error(), "write for example *.svc")
		}
	}
	return discovery.Group{
		Template: t, Relabel: b.relabelling(path+".relabel_configs", f.Relabel), AllowedHosts: f.AllowedHosts,
		Least: f.MinTargets, Most: f.MaxTargets, Lease: f.Lease, Address: apiAddress(t.API),
	}
}

// credentialed reports whether requests to a target carry a key.
func credentialed(t target.Target) bool {
	h := t.HTTP
	return t.Key != target.Credential{} || h.Authorization != nil || h.BasicAuth != nil || h.OAuth2 != nil || h.HTTPHeaders != nil || h.TLSConfig.KeyFile != ""
}

// apiAddress completes the addresses of an API.
type apiAddress target.API

func (a apiAddress) Base(text string) (string, error) {
	var to address
	if m := to.Parse("!!str", text); m != nil {
		if m.Value == "" {
			return "", errors.New("its address " + m.Message + ": " + m.Remedy)
		}
		return "", fmt.Errorf("its address %q %s: %s", m.Value, m.Message, m.Remedy)
	}
	return to.base(target.API(a)), nil
}

// sources resolves where a group is found; known is its preset.
func (b *builder) sources(path string, f fileGroup, known fileKubernetes) []prom.Config {
	kube := b.Has(path+".preset") || b.Has(path+".kubernetes")
	for key, items := range map[string][]map[string]any{"file_sd_configs": f.File, "http_sd_configs": f.HTTP, "dns_sd_configs": f.DNS} {
		at := path + "." + key
		switch {
		case !b.Has(at):
		case kube:
			b.Mistake(at, "", "stands beside kubernetes or a preset", "write a group for each")
		default:
			return b.promSources(at, key, items)
		}
	}
	leased := b.Has(path + ".lease")
	switch {
	case leased && b.Has(path+".preset"):
		b.Mistake(path+".lease", "", "stands beside preset, which it excludes", "write a group for each")
	case !kube && !leased && b.Valid(path):
		b.Mistake(path, f.Name, "has no source of targets", "write one of preset, kubernetes, file_sd_configs, http_sd_configs, dns_sd_configs or lease")
	}
	if !kube || leased || !b.Valid(path+".preset") {
		return nil
	}
	k := f.Kubernetes
	if f.Preset != "" {
		yamlform.Inherit(b.Form, path+".kubernetes", &k, known)
	}
	return []prom.Config{b.kubernetes(path+".kubernetes", k)}
}

// promSources reads a list in Prometheus' own words. No message repeats a value.
func (b *builder) promSources(at, key string, items []map[string]any) []prom.Config {
	for i, item := range items {
		key, message, remedy := forbidden(item)
		url, _ := item["url"].(string)
		switch {
		case key != "":
			b.Mistake(yamlform.Index(at, i)+"."+key, "", message, remedy)
			return nil
		case strings.Contains(url, "@"):
			b.Mistake(yamlform.Index(at, i), "", "has a url with user information (not shown)", "write basic_auth with password_file")
			return nil
		}
	}
	var sources prom.Configs
	if err := redecode(map[string]any{key: items}, &sources); err != nil {
		b.Mistake(at, "", "is no list of such ("+err.Error()+")", "write it as Prometheus' "+key)
		return nil
	}
	sources.SetDirectory(b.dir)
	for i, s := range sources {
		if h, ok := s.(*promhttp.SDConfig); ok {
			h.HTTPClientConfig.SetDirectory(b.dir)
			b.clientFiles(yamlform.Index(at, i), h.HTTPClientConfig)
		}
	}
	return sources
}

// relabelling reads relabel_configs.
func (b *builder) relabelling(at string, items []map[string]any) []*relabel.Config {
	var out []*relabel.Config
	err := redecode(items, &out)
	for _, c := range out {
		if err == nil {
			err = c.Validate(model.LegacyValidation)
		}
	}
	if err != nil {
		b.Mistake(at, "", "is no relabelling ("+err.Error()+")", "write it as Prometheus' <relabel_config>")
		return nil
	}
	return out
}

// redecode reads what was written freely as something of Prometheus', strictly. The
// error says what is wrong and repeats no value.
func redecode(from, to any) error {
	text, err := yaml.Marshal(from)
	if err != nil {
		return err
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(to); err != nil {
		return errors.New(strings.Join(strings.Fields(ofYAML.ReplaceAllString(err.Error(), "")), " "))
	}
	return nil
}

// kubernetes checks which objects are targets.
func (b *builder) kubernetes(path string, f fileKubernetes) *kubernetes.Config {
	c := &kubernetes.Config{
		Resource: f.Resource, Namespaces: f.Namespaces, Selector: f.Selector, URL: f.URL, When: f.When, Labels: f.Labels,
		Kubeconfig: b.file(path+".kubeconfig", f.Kubeconfig, true),
	}
	if !b.Has(path + ".namespaces") {
		c.Namespaces = []string{""} // that of the process
	}
	for _, must := range []struct{ key, value string }{{"resource", f.Resource}, {"url", f.URL}} {
		if at := path + "." + must.key; must.value == "" && b.Valid(at) {
			b.Mistake(at, "", "is missing", "write it, or a preset beside kubernetes")
		}
	}
	b.resource(path+".resource", f.Resource)
	if err := kubernetes.CheckSelector(f.Selector); err != nil {
		b.Mistake(path+".selector", f.Selector, "is no selector of labels", "write for example app=vllm")
	}
	b.expression(path+".url", f.URL)
	b.expression(path+".when", f.When)
	b.labels(path+".labels", f.Labels)
	for _, name := range slices.Sorted(maps.Keys(f.Labels)) {
		at := yamlform.Join(path+".labels", name)
		b.expression(at, f.Labels[name])
		if name != "model" && name != "service" { // which a target has besides
			b.notReserved(at, name)
		}
	}
	if f.With.Resource != "" {
		c.With = b.join(path+".with", f.With)
	}
	return c
}

// join checks what objects are joined with.
func (b *builder) join(path string, f fileJoin) *kubernetes.Join {
	b.resource(path+".resource", f.Resource)
	b.expression(path+".selector", f.Selector)
	b.expression(path+".name", f.Name)
	b.expression(path+".namespace", f.Namespace)
	switch {
	case f.Selector == "" && f.Name == "" && b.Valid(path):
		b.Mistake(path, "", "says not what belongs together", "write selector or name")
	case f.Selector != "" && f.Namespace != "" && b.Valid(path):
		b.Mistake(path+".namespace", "", "has no effect beside selector, which is of the object's namespace", "remove it")
	}
	return &kubernetes.Join{Resource: f.Resource, Selector: f.Selector, Name: f.Name, Namespace: f.Namespace}
}

func (b *builder) resource(at, text string) {
	if _, err := kubernetes.ParseResource(text); err != nil && text != "" && b.Valid(at) {
		b.Mistake(at, text, err.Error(), "write for example inferenceservices.v1beta1.serving.kserve.io, or pods.v1")
	}
}

func (b *builder) expression(at, text string) {
	if err := kubernetes.CheckExpression(text); err != nil && b.Valid(at) {
		b.Mistake(at, text, "is no JSONPath template ("+err.Error()+")", "write it as for kubectl -o jsonpath, for example {.status.url}")
	}
}
