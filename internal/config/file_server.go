package config

// fileServer is the key server_metrics of a target; file.go says what the tags
// mean.
type fileServer struct {
	URLs     []webURL `yaml:"urls" min:"1" absent:"~/metrics~ on the host of ~base_url~" examples:"[\"http://127.0.0.1:8000/metrics\"]" doc:"The pages: one, or one for each worker, each the address of one process and not of a load balancer. The target's TLS settings hold for them; its key and headers go only to the scheme, host and port of ~base_url~."`
	Interval duration `yaml:"interval" default:"30s" min:"5s" max:"5m" doc:"Time between two readings."`
}
