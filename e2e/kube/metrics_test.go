package kube

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// counts are the turns of one target.
type counts struct{ ended, failed float64 }

// turns scrapes a prober and returns its turns by target.
func turns(ctx context.Context, address string) (map[string]counts, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", address, response.Status)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(response.Body)
	if err != nil {
		return nil, err
	}
	byTarget := map[string]counts{}
	for _, metric := range families["synthetic_turns_total"].GetMetric() {
		c := byTarget[target(metric)]
		c.ended += metric.GetCounter().GetValue()
		byTarget[target(metric)] = c
	}
	for _, metric := range families["synthetic_turn_failures_total"].GetMetric() {
		c := byTarget[target(metric)]
		c.failed += metric.GetCounter().GetValue()
		byTarget[target(metric)] = c
	}
	return byTarget, nil
}

func target(metric *dto.Metric) string {
	for _, label := range metric.GetLabel() {
		if label.GetName() == "target" {
			return label.GetValue()
		}
	}
	return ""
}

// resourceNamed reads "group/version/resource" or "version/resource".
func resourceNamed(name string) schema.GroupVersionResource {
	parts := strings.Split(name, "/")
	if len(parts) == 2 {
		parts = append([]string{""}, parts...)
	}
	return schema.GroupVersionResource{Group: parts[0], Version: parts[1], Resource: parts[2]}
}
