package config

// endpoints are the mappings that hold the address of a model and how to reach it.
func endpoints() []string {
	return []string{"targets[]", "discovery[].target", "workloads[].followups.user", "workload.followups.user", "variants[]"}
}

// removedEndpointKeys are the keys that these mappings had, and what to write instead.
func removedEndpointKeys() map[string]string {
	return map[string]string{
		"tls":   "write its keys under http_client.tls_config",
		"http2": "write http_client: {enable_http2: true}",
	}
}

// removedKeys are the other keys of earlier versions, in both files, and what to write
// instead. A file that still has one of them is refused with that remedy.
func removedKeys() map[string]string {
	const client = "write it under http_client"
	keys := map[string]string{}
	for _, at := range []string{"alerting.alertmanagers[]", "tracing", "state.prometheus"} {
		keys[at+".tls"] = "write its keys under http_client.tls_config"
		keys[at+".basic_auth"] = client
		keys[at+".bearer_token_file"] = "write http_client: {authorization: {credentials_file: FILE}}"
		keys[at+".timeout"] = "remove the key: the time is fixed"
	}
	keys["modules"] = "write its items in discovery, each with lease: 10m or the lease that it had"
	keys["discovery[].static_configs"] = "write targets, or file_sd_configs"
	keys["discovery[].kubernetes.context"] = "write a kubeconfig whose current context it is"
	for _, at := range endpoints() {
		for key, remedy := range removedEndpointKeys() {
			keys[at+"."+key] = remedy
		}
	}
	return keys
}

// RemovedKeys is what package yamlform says of keys of earlier versions.
func (*file) RemovedKeys() map[string]string { return removedKeys() }

// RemovedKeys is what package yamlform says of keys of earlier versions.
func (*filePlan) RemovedKeys() map[string]string { return removedKeys() }
