"""Which addresses lead where; those of this machine are found by asking it."""

import socket
from ipaddress import ip_address

import pytest

from sandbox.gateway.address import Kind, is_own, kind

PRIVATE = """
127.0.0.1 127.255.255.254 10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.1.1
100.64.0.1 100.127.255.255 198.18.0.1 ::1 fc00::1 fd12:3456::1
::ffff:10.0.0.1 ::ffff:127.0.0.1 ::127.0.0.1 ::ffff:0:10.0.0.1 64:ff9b::10.0.0.1 64:ff9b:1::1
2002:a00:1:: 2002:7f00:1::1 2001:0:4136:e378:8000:63bf:f5ff:fffe
"""
NEVER = """
0.0.0.0 0.1.2.3 169.254.169.254 169.254.0.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
192.0.0.1 :: fe80::1 fec0::1 ff02::1 100::1 ::ffff:169.254.169.254 64:ff9b::169.254.169.254
2002:a9fe:a9fe:: ::ffff:0.0.0.0
100.100.100.200 168.63.129.16 ::ffff:168.63.129.16 fd00:ec2::254 fd20:ce::254
"""
PUBLIC = """
8.8.8.8 1.1.1.1 172.15.255.255 172.32.0.1 100.63.255.255 100.128.0.1 11.0.0.1
192.0.2.1 198.51.100.7 203.0.113.9 2606:4700::1111 2001:db8::1 ::ffff:8.8.8.8 64:ff9b::8.8.8.8
"""


@pytest.mark.parametrize("address", PRIVATE.split())
def test_local_networks_and_this_machine_are_private(address):
    assert kind(ip_address(address)) is Kind.PRIVATE


@pytest.mark.parametrize("address", NEVER.split())
def test_what_is_no_host_is_never_reached(address):
    assert kind(ip_address(address)) is Kind.NEVER


@pytest.mark.parametrize("address", PUBLIC.split())
def test_the_world_is_public(address):
    assert kind(ip_address(address)) is Kind.PUBLIC


def test_an_address_of_this_machine_is_found_whatever_its_range():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.connect(("192.0.2.1", 9))  # sends nothing: it only chooses an address of ours
        own = sock.getsockname()[0]
    assert is_own(ip_address(own))
    assert is_own(ip_address(f"::ffff:{own}"))
    assert not is_own(ip_address("192.0.2.1"))
