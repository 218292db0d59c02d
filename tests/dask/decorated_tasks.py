"""Tasks below `@track_metrics`. The workers import this module. It is separate, because the other modules must not
import the package."""

import asyncio

from crema_hep import track_metrics


@track_metrics
async def double(number):
    await asyncio.sleep(0.001)
    return 2 * number
