package config

// endpoints returns the paths of the mappings with the keys of an endpoint.
func endpoints() []string {
	return []string{"targets[]", "discovery[].target", "workloads[].followups.user", "workload.followups.user", "variants[]"}
}

// removedEndpointKeys returns the former keys of endpoints, with the remedies.
func removedEndpointKeys() map[string]string {
	return map[string]string{
		"tls":            "write its keys under http_client.tls_config",
		"http2":          "write http_client: {enable_http2: true}",
		"models_timeout": "remove the key: the time is fixed at 10s",
		"api_key_header": "remove the key, or write http_client: {http_headers: {HEADER: {files: [FILE]}}} instead of api_key_file",
		"limit_field":    "remove the key: the field is learned from the target's refusal",
	}
}

// removedWorkloadKeys returns the former keys of workloads, with the remedies.
func removedWorkloadKeys() map[string]string {
	return map[string]string{
		"seed":                 "remove the key: texts are repeatable without it",
		"placeholder":          "remove the key: the conversation ends at an answer without content",
		"reasoning_effort":     "write it in extra_body of the target, in the words of its API",
		"chat_template_kwargs": "write it in extra_body of the target",
		"response_format":      "write its schema as response_schema",
		"trace.window":         "write from and to beside file",
	}
}

// removedKeys returns the remedies for the keys of earlier versions of both files, by path. A file
// with such a key is rejected.
func removedKeys() map[string]string {
	const (
		client = "write it under http_client"
		fixed  = "remove the key: the time is fixed"
	)
	keys := map[string]string{
		"modules":                           "write its items in discovery, each with lease: 10m or the lease that it had",
		"discovery[].static_configs":        "write targets, or file_sd_configs",
		"discovery[].kubernetes.context":    "write a kubeconfig whose current context it is",
		"targets[].probe_header":            "remove the key: the header is always sent",
		"discovery[].target.probe_header":   "remove the key: the header is always sent",
		"traffic[].adaptive":                "write its burst_rate as burst_rate",
		"traffic[].tokens_per_minute":       "write token_budget: TOKENS/1m",
		"traffic[].tokens_per_day":          "write token_budget: TOKENS/1d",
		"regression.page":                   "write page_ratio and page_for",
		"regression.ticket":                 "write ticket_ratio",
		"regression.least_difference":       "remove the key: it is fixed at 50ms for TTFT and 5ms for TPOT",
		"siblings":                          "remove the key: replicas page at 1.5 times their siblings",
		"alerting.retention":                "remove the key: samples are kept for 24h",
		"alerting.max_series":               "remove the key: the limit follows from the number of jobs",
		"targets[].server_metrics.interval": "remove the key: the time is fixed at 30s",
		"tracing.ratio":                     "remove the key: every conversation is exported",
		"ready_timeout":                     "remove the key: let the command of switch wait for what takes longer than 10m",
		"confidence":                        "remove the key: it is fixed at 95%",
	}
	for _, at := range []string{"alerting.alertmanagers[]", "tracing", "state.prometheus"} {
		keys[at+".tls"] = "write its keys under http_client.tls_config"
		keys[at+".basic_auth"] = client
		keys[at+".bearer_token_file"] = "write http_client: {authorization: {credentials_file: FILE}}"
		keys[at+".timeout"] = fixed
	}
	for key, remedy := range removedWorkloadKeys() {
		keys["workloads[]."+key], keys["workload."+key] = remedy, remedy
	}
	for _, at := range endpoints() {
		for key, remedy := range removedEndpointKeys() {
			keys[at+"."+key] = remedy
		}
	}
	return keys
}

// RemovedKeys implements the interface of yamlform.
func (*file) RemovedKeys() map[string]string { return removedKeys() }

// RemovedKeys implements the interface of yamlform.
func (*filePlan) RemovedKeys() map[string]string { return removedKeys() }
