"""`python -m flows.serve`: serves the deployment `build-capr/default` from this machine."""

from __future__ import annotations

from flows.environment import configure_prefect


def main() -> None:
    """Serve until stopped; `prefect deployment run build-capr/default --param lang=ja` starts a run."""
    configure_prefect(command_line=False)
    # Prefect reads its settings when it is imported, so it comes after them.
    from flows.build_capr import build_capr

    build_capr.serve(name="default", parameters={"lang": "ja", "profile": "demo"}, tags=["capr"])


if __name__ == "__main__":
    main()
