"""The controller: keeps registrations judged, takes runs from request to sealed result, cleans up behind them.

Level-triggered: watches only wake it; `plan` looks at what is there now and names the one next step, each step can be
taken twice. Reading order: names, world, plan, workload, pods, reports, draft, sealing, steps, loop.
"""
