// Package spec is what a kubelet tells the process that becomes a container.
package spec

// A Container is what one process sees and may do.
type Container struct {
	// Args is the command; Env its whole environment, as NAME=value.
	Args, Env []string
	// Network is the file of the pod's network namespace; empty: that of the node.
	Network string
	// Image is the directory with the image's files, Scratch an empty one for what the
	// container changes of them.
	Image, Scratch string
	Mounts         []Mount
	// Dir is where the command starts.
	Dir      string
	Hostname string
	// ResolvConf is the text of /etc/resolv.conf.
	ResolvConf      string
	UID, GID        int
	Groups          []int
	ReadOnlyRoot    bool
	NoNewPrivileges bool
}

// A Mount shows the node's file or directory From as To.
type Mount struct {
	From, To string
	ReadOnly bool
}
