"""Settings and versions, as a table."""

from mixkern_study import settings_table


def test_settings_name_the_protocol_and_the_versions(store):
    facts = {row[0].value: row[1].value for row in settings_table(store).rows}
    assert facts["share"] == "0.1"
    assert facts["priors"] == ", ".join(f"{prior:g}" for prior in store.protocol.priors)
    assert facts["results of experiment 1"] == str(3 * 4 * 5 * 2 * 3)
    assert facts["runs"] == "1"
    assert {"numpy", "scikit-learn", "python", "cores"} <= set(facts)
    assert store.protocol.key in settings_table(store).caption
