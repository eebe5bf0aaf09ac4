package config

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"

	amconfig "github.com/prometheus/alertmanager/config"
	amcommon "github.com/prometheus/alertmanager/config/common"
	promconfig "github.com/prometheus/common/config"
	"go.yaml.in/yaml/v3"

	"synthetic/internal/alerting/receivers"
	"synthetic/internal/config/yamlform"
)

// ownReceivers are the keys of alerting that have Alertmanager's own form.
type ownReceivers struct {
	Receivers     []map[string]any `yaml:"receivers" secret:"true" min:"1" max:"100" examples:"[{name: oncall, webhook_configs: [{url: \"http://hooks.example.com/pages\"}]}]"`
	Route         map[string]any   `yaml:"route" examples:"{receiver: oncall, group_by: [target]}"`
	Global        map[string]any   `yaml:"global" secret:"true" examples:"{smtp_smarthost: \"mail.example.com:587\", smtp_from: synthetic@example.com}"`
	InhibitRules  []map[string]any `yaml:"inhibit_rules" min:"1" max:"100" examples:"[{source_matchers: [severity=\"page\"], target_matchers: [severity=\"ticket\"], equal: [target]}]"`
	TimeIntervals []map[string]any `yaml:"time_intervals" min:"1" max:"100" examples:"[{name: nights, time_intervals: [{times: [{start_time: \"22:00\", end_time: \"24:00\"}]}]}]"`
	Templates     []string         `yaml:"templates" min:"1" max:"100" examples:"[templates/*.tmpl]"`
	// Notify has the decoded keys; nil without receivers.
	Notify *receivers.Options
}

const alertmanagerForm = "write it as in Alertmanager's configuration, see docs/how-to/pager.md"

// receivers decodes the own receivers. No message repeats a value.
func (b *builder) receivers(path string, r *ownReceivers) {
	if len(r.Receivers) == 0 {
		for _, key := range []string{"route", "global", "inhibit_rules", "time_intervals", "templates"} {
			if at := path + "." + key; b.Has(at) {
				b.Mistake(at, "", "has no effect without receivers", "write receivers, or remove it")
			}
		}
		return
	}
	if !b.affords(path+".receivers", effortOf(r.Receivers)+effortOf(r.Route)+effortOf(r.InhibitRules)+effortOf(r.TimeIntervals)) {
		return
	}
	o := &receivers.Options{}
	for i, t := range r.Templates {
		r.Templates[i] = b.resolve(t)
	}
	global := b.withFiles(path+".global", r.Global, o).(map[string]any)
	all := make([]any, len(r.Receivers))
	for i, item := range r.Receivers {
		all[i] = b.withFiles(yamlform.Index(path+".receivers", i), item, o)
	}
	first, _ := r.Receivers[0]["name"].(string)
	route := r.Route
	if len(route) == 0 {
		route = map[string]any{"receiver": first, "group_by": []string{"target"}}
	}
	// Each part is checked with a minimum of the others, because messages of the whole name no place.
	file := map[string]any{"global": global, "receivers": []any{map[string]any{"name": "-"}}, "route": map[string]any{"receiver": "-"}}
	part := func(at string, keys map[string]any) bool {
		alone := maps.Clone(file)
		maps.Copy(alone, keys)
		_, err := loadReceivers(alone)
		if err != nil && b.Valid(at) {
			b.Mistake(at, "", "is not valid ("+err.Error()+")", alertmanagerForm)
		}
		return err == nil
	}
	valid := part(path+".global", nil)
	for i, item := range all {
		at := yamlform.Index(path+".receivers", i)
		valid = valid && part(at, map[string]any{"receivers": []any{item}, "route": map[string]any{"receiver": r.Receivers[i]["name"]}})
	}
	file["receivers"] = all
	for _, list := range []struct {
		key   string
		items []map[string]any
	}{{"inhibit_rules", r.InhibitRules}, {"time_intervals", r.TimeIntervals}} {
		if len(list.items) > 0 {
			file[list.key] = list.items
			valid = valid && part(path+"."+list.key, map[string]any{"route": map[string]any{"receiver": first}})
		}
	}
	file["templates"], file["route"] = r.Templates, route
	if !valid || !part(path+".route", nil) {
		return
	}
	o.Config, _ = loadReceivers(file)
	b.noSecrets(path+".global", r.Global, reflect.ValueOf(o.Config.Global))
	for i, item := range r.Receivers {
		b.noSecrets(yamlform.Index(path+".receivers", i), item, reflect.ValueOf(o.Config.Receivers[i]))
	}
	if err := receivers.Check(o.Config); err != nil && b.Valid(path) {
		b.Mistake(path+".receivers", "", "cannot be used ("+withoutValues(err)+")", alertmanagerForm)
	}
	r.Notify = o
}

func loadReceivers(file map[string]any) (*amconfig.Config, error) {
	text, err := yaml.Marshal(file)
	if err != nil {
		return nil, err
	}
	c, err := amconfig.Load(string(text))
	if err != nil {
		return nil, errors.New(withoutValues(err))
	}
	return c, nil
}

// freeOfFiles are keys of receivers whose values are content of messages.
var freeOfFiles = []string{"payload", "details", "fields", "custom_fields", "labels"}

// publicFiles are keys of files whose contents are never part of a request.
var publicFiles = []string{"ca_file", "cert_file", "key_file", "username_file"}

// withFiles returns a copy of a block with the paths of files relative to the configuration file. It adds the
// files to those whose contents are secret.
func (b *builder) withFiles(at string, block any, o *receivers.Options) any {
	switch block := block.(type) {
	case map[string]any:
		out := map[string]any{}
		for _, key := range slices.Sorted(maps.Keys(block)) {
			inner := yamlform.Join(at, key)
			switch path, isText := block[key].(string); {
			case slices.Contains(freeOfFiles, key):
				out[key] = block[key]
			case isText && strings.HasSuffix(key, "_file"):
				out[key] = b.file(inner, path, true)
				if !slices.Contains(publicFiles, key) {
					o.SecretFiles = append(o.SecretFiles, b.resolve(path))
				}
			case key == "files":
				out[key] = b.headerFiles(inner, block[key], o)
			default:
				out[key] = b.withFiles(inner, block[key], o)
			}
		}
		return out
	case []any:
		out := make([]any, len(block))
		for i, item := range block {
			out[i] = b.withFiles(yamlform.Index(at, i), item, o)
		}
		return out
	}
	return block
}

// headerFiles is withFiles for the files of a header.
func (b *builder) headerFiles(at string, list any, o *receivers.Options) (out []any) {
	items, _ := list.([]any)
	for i, item := range items {
		path, _ := item.(string)
		out = append(out, b.file(yamlform.Index(at, i), path, true))
		o.SecretFiles = append(o.SecretFiles, b.resolve(path))
	}
	return out
}

var secretTypes = []reflect.Type{
	reflect.TypeFor[promconfig.Secret](), reflect.TypeFor[amcommon.SecretURL](),
	reflect.TypeFor[amcommon.SecretTemplateURL](), reflect.TypeFor[amconfig.SecretTemplateURL](),
}

// noSecrets refuses keys in the block at path, which was decoded into v. The address of a webhook is
// allowed, unless it looks like a secret.
func (b *builder) noSecrets(path string, block any, v reflect.Value) {
	v = reflect.Indirect(v)
	if !v.IsValid() {
		return
	}
	switch block := block.(type) {
	case string:
		if slices.Contains(secretTypes, v.Type()) {
			key := path[strings.LastIndex(path, ".")+1:]
			if key == "url" && !yamlform.LooksSecret(block) {
				return
			}
			b.Mistake(path, "", "carries a key, which is never written in the configuration (value not shown)", "put the key in a file and write "+key+"_file")
		}
	case []any:
		for i, item := range block {
			if v.Kind() == reflect.Slice && i < v.Len() {
				b.noSecrets(yamlform.Index(path, i), item, v.Index(i))
			}
		}
	case map[string]any:
		if v.Type() == reflect.TypeFor[promconfig.HTTPClientConfig]() {
			if key, message, remedy := forbidden(block); key != "" {
				b.Mistake(path+"."+key, "", message, remedy)
			}
			return
		}
		for i := 0; v.Kind() == reflect.Struct && i < v.NumField(); i++ {
			key, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
			if inner, written := block[key]; written {
				b.noSecrets(yamlform.Join(path, key), inner, v.Field(i))
			}
		}
	}
}
