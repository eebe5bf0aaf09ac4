// Package spec describes the process of a container for the program that becomes it.
package spec

// Container describes the files and the rights of the process.
type Container struct {
	// Args is the command; Env is its whole environment as NAME=value.
	Args, Env []string
	// Network is the file of the pod's network namespace; "" means the node's.
	Network string
	// Image is the directory with the image's files; Scratch is an empty directory for the
	// changes of the container.
	Image, Scratch string
	Mounts         []Mount
	// working directory
	Dir      string
	Hostname string
	// ResolvConf is the text of /etc/resolv.conf.
	ResolvConf      string
	UID, GID        int
	Groups          []int
	ReadOnlyRoot    bool
	NoNewPrivileges bool
}

// Mount shows the node's file or directory From at To.
type Mount struct {
	From, To string
	ReadOnly bool
}
