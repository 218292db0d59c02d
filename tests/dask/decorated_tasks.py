"""Tasks below `@track_metrics`. Imported by the workers; a module of its own, as others must not import the package."""

import asyncio

from crema_hep import track_metrics


@track_metrics
async def double(number):
    await asyncio.sleep(0.001)
    return 2 * number
