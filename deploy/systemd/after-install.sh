#!/bin/sh
# An upgrade restarts what runs; a first installation starts nothing.
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart synthetic.service
fi
