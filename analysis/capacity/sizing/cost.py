"""Cost per genome, and price-performance.

Straight-line depreciation over 36 months plus power (PUE: power usage effectiveness, The Green Grid 2007):

    bought: h * (capex * (1 + maintenance) / (36 * 30.4) + kW * 24 * PUE * tariff + operations) / N
    rented: h * (24 * price per hour + operations) / N

with h hosts and N genomes per day, all in USD per genome.
"""

from __future__ import annotations

from analysis.capacity.inputs.catalogue import HostType, Site

MONTHS = 36
DAYS_OF_MONTH = 30.4
DAYS = MONTHS * DAYS_OF_MONTH


def usd_per_host_day(host: HostType, site: Site) -> float:
    """Cost of one host per day, USD. ValueError if it has no price."""
    if host.usd_per_hour is not None:
        return host.usd_per_hour * 24 + host.operations_usd_per_day
    if host.capex_usd is None:
        raise ValueError(f"host {host.name} has no price")
    capital = host.capex_usd * (1 + host.maintenance) / DAYS
    return capital + host.kw * 24 * site.pue * site.usd_per_kwh + host.operations_usd_per_day


def usd_3_years_per_daily_genome(
    hosts: float, host_day_usd: float, genomes_per_day: float
) -> float:
    """Total cost of 3 years, divided by the genomes per day that the cluster is sized for."""
    return hosts * host_day_usd * DAYS / genomes_per_day
