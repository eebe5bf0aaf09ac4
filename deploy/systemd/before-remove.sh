#!/bin/sh
# dpkg passes "remove" and rpm passes 0 for a removal, other values for an upgrade.
if [ -d /run/systemd/system ] && { [ "$1" = remove ] || [ "$1" = 0 ]; }; then
	systemctl disable --now synthetic.service
fi
