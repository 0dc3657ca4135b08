"""The embedded teacher over HTTP: it finds, measures, misbehaves on schedule, and knows nothing by heart."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from demo_helpers import RESOURCES, Driver, Item, Talk, base_of, get, is_right, items_of, post, servers, stored
from tir_distill.demo import draw, expectations
from tir_distill.demo.inventory import Ask, load_playbook, load_questions

ASKS = {ask.key: ask for ask in load_questions(RESOURCES)}
SCRIPTS = {script.question: script for script in load_playbook(RESOURCES)}


@pytest.fixture(scope="module")
def items(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Item]:
    """Questions of a drawn mirror by key, pictures as the hand-over stores them."""
    folder = tmp_path_factory.mktemp("mirror")
    draw(folder, seed=3)
    keys = {ask.text: key for key, ask in ASKS.items()}
    out = {}
    for item in items_of(folder):
        if item.text in keys:
            item.picture = stored(item.picture) if item.picture else None
            out[keys[item.text]] = item
    assert set(out) == set(ASKS)
    return out


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    folder = tmp_path_factory.mktemp("servers")
    with servers(folder) as env:
        yield Driver(env, folder)


@pytest.fixture(scope="module")
def talks(driver: Driver, items: dict[str, Item]) -> dict[str, list[Talk]]:
    """Two samples of every question."""
    return {key: [driver.talk(item, sample) for sample in (0, 1)] for key, item in items.items()}


def test_every_question_is_answered_rightly_by_a_sample_that_behaves(
    talks: dict[str, list[Talk]], items: dict[str, Item]
) -> None:
    wrong = [key for key, (_, second) in talks.items() if not is_right(items[key], second.answer)]
    assert wrong == ["folly"]  # the one that is never answered


def test_search_questions_are_searched_and_picture_questions_are_measured(talks: dict[str, list[Talk]]) -> None:
    for key, (_, talk) in talks.items():
        used = {name for name, _ in talk.calls}
        if ASKS[key].hops:
            assert used == {"search", "open"}, key
        else:
            assert used == {"python"}, key
            assert any("IMAGE_PATH" in arguments["code"] for _, arguments in talk.calls)


def test_thinking_is_long_and_never_the_same(talks: dict[str, list[Talk]]) -> None:
    seen: set[str] = set()
    for key, pair in talks.items():
        for sample, talk in enumerate(pair):
            script = SCRIPTS.get(key)
            if script and sample in script.samples and script.expect:
                continue
            assert all(text not in seen for text in talk.thinking)
            seen.update(talk.thinking)
            assert min(map(len, talk.thinking)) >= 230
            assert sum(map(len, talk.thinking)) >= 1000
            visible = [message["content"] or "" for message in talk.messages]
            assert all(a != b for a, b in pairwise(visible) if a or b)  # F7 compares what is visible


def test_usage_and_finish_reasons_are_those_of_a_server(talks: dict[str, list[Talk]]) -> None:
    for pair in talks.values():
        for talk in pair:
            assert set(talk.finish) <= {"stop", "tool_calls", "length"}
            for reply in talk.replies:
                usage = reply["usage"]
                assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
                message = reply["choices"][0]["message"]
                assert (reply["choices"][0]["finish_reason"] == "tool_calls") == ("tool_calls" in message)
                assert message["content"] is None or message["content"].strip()


def test_the_same_request_gets_the_same_reply_in_any_order(driver: Driver, items: dict[str, Item]) -> None:
    requests = []
    for key in ("moldau", "ruogu", "winsel", "lorne"):
        for seed in (32, 33, 1600):
            requests.append(([{"role": "user", "content": items[key].text}], seed))
    first = [driver.ask(messages, seed=seed) for messages, seed in requests]
    order = list(range(len(requests)))
    random.Random(1).shuffle(order)
    again = {index: driver.ask(requests[index][0], seed=requests[index][1]) for index in order}
    assert [again[index] for index in range(len(requests))] == first
    assert len({json.dumps(reply["choices"]) for reply in first}) == len(requests)  # seeds differ


def test_a_changed_fact_changes_the_answer(tmp_path: Path, items: dict[str, Item]) -> None:
    pages = (RESOURCES / "corpus.jsonl").read_text(encoding="utf-8")
    changed = pages.replace("Designer: Tomas Revik", "Designer: Vera Nyström").replace(
        "出生地：松陵镇", "出生地：白沙镇"
    )
    assert changed != pages
    (tmp_path / "corpus.jsonl").write_text(changed, encoding="utf-8")
    with servers(tmp_path, "--corpus", str(tmp_path / "corpus.jsonl")) as env:
        driver = Driver(env, tmp_path)
        bridge, village = driver.talk(items["long_bridge"], 2), driver.talk(items["wenlan"], 2)
    assert bridge.answer == "Vera Nyström"
    assert village.answer == "白沙镇"
    assert not is_right(items["long_bridge"], bridge.answer)


def test_without_results_no_search_question_is_answered(driver: Driver, items: dict[str, Item]) -> None:
    blind = Driver(driver.env, driver.work, searching=False)
    for key, item in items.items():
        if ASKS[key].hops:
            for sample in (0, 1):
                script = SCRIPTS.get(key)
                if script and script.act == "read_plate_only" and sample in script.samples:
                    continue  # F3 drops it: it never searched
                assert not is_right(item, blind.talk(item, sample).answer), key


def test_the_servers_never_read_the_answers(tmp_path: Path, items: dict[str, Item]) -> None:
    """A folder without truth.yaml is all that they need."""
    from tir_distill.demo.server import Servers
    from tir_distill.demo.settings import ServerSettings

    for name in ("questions.yaml", "playbook.yaml", "corpus.jsonl"):
        shutil.copy(RESOURCES / name, tmp_path / name)
    Servers.open(ServerSettings(port_file=tmp_path / "p", resources=tmp_path, corpus=tmp_path / "corpus.jsonl"))
    told = "".join((RESOURCES / name).read_text(encoding="utf-8") for name in ("questions.yaml", "playbook.yaml"))
    for key in ("moldau", "winsel", "nunes", "wenlan", "skarvholm", "barrier_opened", "chess_opening", "comet_object"):
        assert not any(reference in told for reference in items[key].references), key


# ---- scripted samples -----------------------------------------------------------------------------------------------


def scripted(talks: dict[str, list[Talk]], act: str) -> Talk:
    return next(talks[script.question][script.samples[0]] for script in SCRIPTS.values() if script.act == act)


def test_f1_wrong_line(talks: dict[str, list[Talk]], items: dict[str, Item]) -> None:
    assert talks["orlet"][0].answer == "1538"
    assert talks["nunes"][0].answer == "140"


def test_f2_opens_a_data_set(talks: dict[str, list[Talk]]) -> None:
    opened = [arguments["url"] for name, arguments in scripted(talks, "open_blocked").calls if name == "open"]
    assert any("huggingface.co/datasets" in url for url in opened)
    assert scripted(talks, "open_blocked").answer == "Vogel Press of Orlet"


def test_f3_no_search(talks: dict[str, list[Talk]]) -> None:
    talk = scripted(talks, "read_plate_only")
    assert talk.calls == []
    assert talk.answer == "106"


def test_f4_picture_code_without_picture(talks: dict[str, list[Talk]]) -> None:
    talk = scripted(talks, "picture_code")
    assert "PIL" in talk.calls[0][1]["code"]
    assert talk.results[0].startswith("canvas (64, 64)")


def test_f5_silent_picture_cell(talks: dict[str, list[Talk]], items: dict[str, Item]) -> None:
    talk = scripted(talks, "silent_picture_cell")
    first, second = (arguments["code"] for _, arguments in talk.calls)
    assert "Image.open" in first
    assert talk.results[0] == "(no output)"
    assert "Image" not in second
    assert "values" in second
    assert is_right(items["chart_total"], talk.answer)


def test_f6_single_letter(talks: dict[str, list[Talk]]) -> None:
    assert [talk.answer for talk in talks["asta"]] == ["K", "Pier K"]


def test_f7_same_turn_twice(talks: dict[str, list[Talk]]) -> None:
    first, second = scripted(talks, "same_turn_twice").messages[:2]
    assert first["content"] == second["content"] == "I will search for it."
    assert first["reasoning_content"] == second["reasoning_content"]


def test_f8_cut_and_marker(talks: dict[str, list[Talk]]) -> None:
    assert scripted(talks, "cut_short").finish[-1] == "length"
    assert "[tool output truncated]" in scripted(talks, "quotes_marker").thinking[-1]


def test_f9_too_little_and_too_much(talks: dict[str, list[Talk]]) -> None:
    tokens = {
        act: sum(r["usage"]["completion_tokens"] for r in scripted(talks, act).replies)
        for act in ("terse", "long_winded")
    }
    assert tokens["terse"] < 150
    assert tokens["long_winded"] > 8000
    assert min(map(len, scripted(talks, "terse").thinking)) >= 20


def test_f10_thoughtless_turn(talks: dict[str, list[Talk]]) -> None:
    assert sorted(map(len, scripted(talks, "thoughtless_turn").thinking))[0] == len("Open it.")


def test_f11_long_pages(talks: dict[str, list[Talk]]) -> None:
    talk = scripted(talks, "read_tide_logs")
    assert sum(map(len, talk.results)) > 48_000
    assert talk.answer == "a carved hare"


def test_limits_force_an_answer(talks: dict[str, list[Talk]]) -> None:
    searched = scripted(talks, "search_on")
    assert searched.searches > 8
    assert searched.answer == "Capella"
    opened = scripted(talks, "open_on")
    assert len(opened.replies) == 11
    assert opened.answer == "Otto Wenlock"


def test_a_call_is_swallowed_and_calls_are_parallel(talks: dict[str, list[Talk]]) -> None:
    first = scripted(talks, "swallowed_call").messages[0]
    assert first["content"].startswith('<tool_call>{"action": "search"')
    assert "</tool_call>" not in first["content"]
    assert "tool_calls" not in first
    assert len(scripted(talks, "parallel_calls").messages[0]["tool_calls"]) == 4


def test_a_picture_is_sent_back(driver: Driver, talks: dict[str, list[Talk]]) -> None:
    talk = scripted(talks, "return_picture")
    assert '.save("enlarged.png")' in talk.calls[0][1]["code"]
    assert talk.results[0].strip() in " ".join(talk.thinking[1].split()) + "\n"


def test_a_question_is_given_up(talks: dict[str, list[Talk]]) -> None:
    assert [talk.answer for talk in talks["folly"]] == [None, None]


# ---- other protocols and rows ---------------------------------------------------------------------------------------


def test_text_protocol(driver: Driver, items: dict[str, Item]) -> None:
    for key in ("moldau", "chart_range", "ruogu"):
        talk = driver.talk(items[key], 2, native=False)
        assert is_right(items[key], talk.answer)
        assert set(talk.finish) == {"stop"}


def test_a_reply_over_the_token_limit_is_cut(driver: Driver, items: dict[str, Item]) -> None:
    reply = driver.ask([{"role": "user", "content": items["moldau"].text}], seed=1, max_tokens=50)
    assert reply["choices"][0]["finish_reason"] == "length"
    assert reply["usage"]["completion_tokens"] == 50


def test_real_rows_are_found_by_searching_or_answered_from_the_key(tmp_path: Path, items: dict[str, Item]) -> None:
    handover = tmp_path / "handover"
    handover.mkdir()
    rows, asked = [], []
    for index, (answer, kind) in enumerate(
        [("Ada Lind", "image_search"), ("Bo Ek", "image_search"), ("42", "image_reasoning")]
    ):
        picture = items[["skarvholm", "orlet", "chart_gap"][index]].picture
        assert picture is not None
        (handover / f"{index}.png").write_bytes(picture)
        text = "Who built this?" if kind == "image_search" else "What is the highest value?"
        rows.append(
            {"id": f"r{index}", "task_type": kind, "question": text, "answer": answer, "images": [f"{index}.png"]}
        )
        asked.append(Item("real", text, kind, picture, [answer]))
    with servers(
        tmp_path, "--questions", str(handover / "phase_10k.jsonl"), "--corpus-from-questions", "--port", "0"
    ) as env:
        (handover / "phase_10k.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))  # after the start
        driver = Driver(env, tmp_path)
        talks = [driver.talk(item) for item in asked]
        assert [talk.answer for talk in talks] == ["Ada Lind", "Bo Ek", "42"]
        assert [name for name, _ in talks[0].calls] == ["search", "open"]
        assert talks[2].results[0].startswith("width 600 height 420 mean brightness")
        assert talks[2].results[0].strip() in talks[2].thinking[-1]
        blind = Driver(env, tmp_path, searching=False)
        assert blind.talk(asked[0]).answer == "not found"


def test_expectations_speak_of_the_hand_overs_ids(tmp_path: Path) -> None:
    path = tmp_path / "phase_10k.jsonl"
    rows = [{"id": f"id_{key}", "bucket": "b", "question": ask.text} for key, ask in ASKS.items()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = {(item.question_id, item.sample): item for item in expectations(path)}
    assert found["id_tram", 0].rule == "F3"
    assert found["id_hylte", 1].rule is None
    assert not found["id_folly", 0].question_accepted


def test_requests_are_counted(driver: Driver, items: dict[str, Item]) -> None:
    base = base_of(driver.env)
    post(f"{base}/counters/reset", {})
    driver.talk(items["skarvholm"], 2)
    counters = get(f"{base}/counters")
    assert counters["teacher"] == 4  # a search, two pages, the answer
    assert (counters["search"], counters["reader"], counters["judge"]) == (1, 2, 0)


def test_asks_hold_no_answer() -> None:
    assert "answer" not in Ask.__dataclass_fields__
