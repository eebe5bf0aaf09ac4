#!/bin/sh
# An upgrade restarts a running service. A first installation starts nothing.
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart synthetic.service
fi
