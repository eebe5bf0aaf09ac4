#!/bin/sh
# "remove" is what dpkg says, 0 what rpm says: it is no upgrade.
if [ -d /run/systemd/system ] && { [ "$1" = remove ] || [ "$1" = 0 ]; }; then
	systemctl disable --now synthetic.service
fi
