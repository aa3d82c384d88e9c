"""Cost per genome, and price per performance.

Bought: h * (capex*(1+maintenance)/(36*30.4) + kW*24*PUE*tariff + operations) / genomes a day. Rented:
the hour's price in the capex's and the power's place.
"""

from __future__ import annotations

from analysis.capacity.inputs.catalogue import HostType, Site

MONTHS = 36
DAYS_OF_MONTH = 30.4
DAYS = MONTHS * DAYS_OF_MONTH


def usd_per_host_day(host: HostType, site: Site) -> float:
    """What one host costs a day. ValueError if it has no price."""
    if host.usd_per_hour is not None:
        return host.usd_per_hour * 24 + host.operations_usd_per_day
    if host.capex_usd is None:
        raise ValueError(f"host {host.name} has no price")
    capital = host.capex_usd * (1 + host.maintenance) / DAYS
    return capital + host.kw * 24 * site.pue * site.usd_per_kwh + host.operations_usd_per_day


def usd_per_genome(hosts: float, host_day_usd: float, genomes_per_day: float) -> float:
    return hosts * host_day_usd / genomes_per_day


def usd_3_years_per_genome_a_day(
    hosts: float, host_day_usd: float, genomes_per_day: float
) -> float:
    """The whole cost of 3 years for each genome a day the cluster is built for."""
    return hosts * host_day_usd * DAYS / genomes_per_day
