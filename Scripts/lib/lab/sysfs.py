#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A tree as /sys has it for the USB network function of an iPhone, so that a virtual link can be taken for its cable.

Usage: sysfs.py DIR INTERFACE INDEX [KEY=TEXT…]   (KEY: product, serial, address and so on)

Tests use it as a module. Links are relative, as the kernel's are.
"""

import os
import pathlib
import shutil
import sys


class Tree:
    """What a reader finds below `root`, which may be bound over /sys. `reset` makes it whole again."""

    BUS = "pci0000:00/0000:00:14.0/usb3/3-2"

    def __init__(self, root, interface="usb0", index=9, address="02:11:22:33:44:55", **texts):
        self.root = pathlib.Path(root)
        self.name, self.index, self.address, self.texts = interface, index, address, texts

    def reset(self, bus=BUS, driver="cdc_ncm"):
        """The directory itself stays: it may be a mount."""
        self.root.mkdir(parents=True, exist_ok=True)
        for entry in self.root.iterdir():
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
        self.usb = f"devices/{bus}"
        self.function = f"{self.usb}/{pathlib.Path(bus).name}:5.2"
        self.interface = f"{self.function}/net/{self.name}"
        device = {
            "uevent": "MAJOR=189\nDEVTYPE=usb_device\nDRIVER=usb", "idVendor": "05ac", "idProduct": "12a8",
            "product": "iPhone", "serial": "00008110001A2B3C4D5E6F70", "authorized": "1", "busnum": "3", "devnum": "17",
        }
        function = {"uevent": "DEVTYPE=usb_interface", "bInterfaceClass": "02", "bInterfaceSubClass": "0d"}
        interface = {
            "ifindex": str(self.index), "type": "1", "flags": "0x1003", "address": self.address,
            "uevent": f"INTERFACE={self.name}\nIFINDEX={self.index}",
        }
        for folder, files in ((self.usb, device), (self.function, function), (self.interface, interface)):
            for name, text in files.items():
                self.write(f"{folder}/{name}", self.texts.get(name, text))
        self.link(f"{self.usb}/subsystem", "bus/usb")
        self.link(f"{self.function}/subsystem", "bus/usb")
        self.link(f"{self.interface}/device", self.function)
        self.link(f"class/net/{self.name}", self.interface)
        self.drive(driver)
        return self

    def path(self, name):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def write(self, name, text):
        """A file with its line feed, in the place of whatever is there."""
        self.remove(name)
        self.path(name).write_text(text + "\n")

    def remove(self, name):
        path = self.root / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)

    def link(self, name, target):
        self.remove(name)
        where = self.path(name)
        (self.root / target).mkdir(parents=True, exist_ok=True)
        where.symlink_to(os.path.relpath(self.root / target, where.parent))

    def drive(self, driver):
        self.link(f"{self.function}/driver", f"bus/usb/drivers/{driver}")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    Tree(sys.argv[1], sys.argv[2], int(sys.argv[3]), **dict(word.split("=", 1) for word in sys.argv[4:])).reset()
