"""How nodes divide the hardware of a host, equally at every density: cores, drives, queues. Pure."""
