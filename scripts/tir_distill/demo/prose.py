"""The teacher's thinking in words, different in each turn and sample, in the question's language.

A turn says first what it is about (its ``kind``), then goes on with reflections until it is as long as thinking of a
real teacher is (seed section 11: the median should reach 500 characters). Which sentences are taken follows from
question, sample seed and turn alone.
"""

from __future__ import annotations

import random
import re

from .inventory import dice

MIN_CHARS = {"en": 540, "zh": 230}

_KINDS: dict[str, dict[str, tuple[str, ...]]] = {
    "en": {
        "plan": (
            'The question is: "{question}" I do not know this by heart, so I should look it up. {seen}',
            'I am asked: "{question}" Nothing in my memory is safe enough here, so a search has to come first. {seen}',
            '"{question}" That asks for one exact fact, and a guess would be worth nothing. {seen}',
        ),
        "search": (
            'I will search for "{query}", because the words of the query should stand on the page that I need.',
            'A query such as "{query}" names the thing and the kind of fact, which should be enough for a first try.',
            'Searching for "{query}" is the shortest way to a page that states the {label}.',
        ),
        "open": (
            'Among the results "{title}" fits best, since it speaks of the thing itself and not of something near it.',
            'The result "{title}" looks right; its snippet is about the same thing, so I will read the whole page.',
            '"{title}" is the page to read: a snippet can be cut in the wrong place, so I want the full text.',
        ),
        "next": (
            "The page gives the {label}: {value}. That is one step; now I need what follows from it.",
            "So the {label} is {value}. This was the link that was missing, and the next search can name it.",
            "Good, {label}: {value}. With this name I can go on to the page that the question is really about.",
        ),
        "missing": (
            "The page does not state the {label}, so I should not answer from it.",
            "I read the text twice and the {label} is not in it; I have to look elsewhere.",
        ),
        "answer": (
            "The page states the {label} as {value}, in a line of its own and without any doubt.",
            "There it is: {label}: {value}. The page is about the very thing that was asked about.",
            "The line for {label} says {value}, which answers the question as it was put.",
        ),
        "lost": (
            "I have searched in several ways and no page states the {label}. I cannot give a fact I have not found.",
            "Nothing that I could open tells the {label}, and inventing one would be worse than saying so.",
        ),
        "verify": (
            'I have the {label}, {value}, but I would like to see it confirmed; "{query}" might bring a second page.',
            'Before I answer with {value}, one more look at "{query}" cannot harm.',
        ),
        "measure": (
            'The question is: "{question}" It must be computed from the picture, so I should measure it, not guess.',
            '"{question}" My eye is not exact enough for this; a few lines of code can read the pixels.',
        ),
        "measured": (
            "The cell printed {output}, so the picture can be read without any doubt. Now only the arithmetic is left.",
            "What came back is {output}. Each of these was taken from the pixels, so I can compute with them.",
        ),
        "computed": (
            "From what was printed, {output}, the result is {value}. This agrees with a rough look at the picture.",
            "The numbers were {output}, and so the answer has to be {value}.",
        ),
        "looked": (
            "The cell printed {output}. That tells me what sort of picture I have before me: {output}, as expected.",
            "With {output} I know the format and the brightness, and the parts can be read off one by one.",
        ),
        "enlarged": (
            "The cell answered {output}, and at twice its size I can tell the bars apart and see where each one ends.",
            "Now I have it larger ({output}): the bars stand clear of the grid, so the pixels can be counted safely.",
        ),
        "plate": (
            'I am asked: "{question}" The plate in the corner can be read directly, and it says {value}.',
            "The picture itself carries a plate with the figures {value}, so the answer seems to be in front of me.",
        ),
    },
    "zh": {
        "plan": (
            "题目是：“{question}”这件事我没有把握，不能凭印象回答，应该先查资料。{seen}",
            "要回答的是：“{question}”其中至少有两步，必须一步一步地查证。{seen}",
        ),
        "search": (
            "我先搜索“{query}”，因为这几个词应当会出现在需要的页面上。",
            "用“{query}”作为检索词，既点明了对象，也点明了要找的内容（{label}）。",
        ),
        "open": (
            "结果里“{title}”最贴切，摘要说的正是这个对象，我要打开全文看一看。",
            "“{title}”这一条应该就是，摘要可能截断，所以需要读完整的页面。",
        ),
        "next": (
            "页面写明{label}是{value}。这只是中间一步，接下来要查与{value}有关的内容。",
            "由此可知，{label}：{value}。缺少的一环找到了，可以继续往下查。",
        ),
        "missing": (
            "这一页没有写{label}，不能据此作答，要换一个页面再看。",
            "读了两遍，没有看到{label}，还需要另找来源。",
        ),
        "answer": (
            "页面上单独有一行写着{label}：{value}，说得很清楚。",
            "找到了，{label}就是{value}，与题目所问完全对应。",
        ),
        "lost": ("换了几种说法检索，仍然没有找到{label}，没有查到的事实不能编造。",),
        "verify": ("已经知道{label}是{value}，再用“{query}”核对一次更稳妥。",),
    },
}

_REFLECTIONS: dict[str, tuple[str, ...]] = {
    "en": (
        "I should keep apart what I have read and what I only expect to read.",
        "If two pages disagree, the one that is about the thing itself should count for more than a passing mention.",
        "The question asks for a name, a number or a short phrase, so the final answer has to be just that.",
        "It would be easy to mix this up with something nearby of a similar name, so I will check what it is about.",
        "A date or a unit can change the meaning of such a fact, and I should copy it as it stands.",
        "Let me think about what else could be meant: the wording points to one thing only, as far as I can tell.",
        "I do not want to spend more calls than needed, but one call too few would cost the answer.",
        "The order of the steps matters, because each one gives the words for the one that follows it.",
        "If this leads nowhere, I can still phrase it in another way and try again.",
        "An encyclopedia page usually lists such facts one to a line, which makes them easy to find.",
        "I will compare the wording of the question with the wording of the source once more before I go on.",
        "So far nothing contradicts what I assumed, but an assumption is no evidence.",
        "What matters here is the exact wording, since a broader term would not be accepted as an answer.",
        "The most common mistake in such a task is to stop after the first step and answer with a link of the chain.",
        "Another common mistake is to answer with the owner where the maker was asked for, or the other way round.",
        "I keep in mind that the answer must not be longer than it has to be.",
        "It helps to say the question again in other words: which single fact would settle it?",
        "There may be several things of this kind, so the detail that tells them apart has to be used.",
        "A source that gives the fact in a line of its own is better than one from which it must be guessed.",
        "Should the page be long, I only need the part with the plain facts.",
        "I notice that the question does not ask for an explanation, so I will keep that to myself.",
        "Rounding or translating the fact would only add a chance of error.",
        "If the result were surprising I would look for a second source, and here it is as one would expect.",
        "This is the point at which a careless reader would go wrong, so it deserves a second look.",
    ),
    "zh": (
        "要把已经读到的内容和自己的猜测分开。",
        "如果两个页面说法不同，应以专门介绍该对象的页面为准。",
        "题目要的是一个名称或者一个短语，最后只需要写出它。",
        "名字相近的事物不少，要确认页面说的就是题目里的那一个。",
        "每一步的结果都是下一步的检索词，次序不能颠倒。",
        "如果这条路走不通，可以换一种说法再试一次。",
        "百科页面通常把这类事实单独列成一行，容易找到。",
        "最常见的错误是只走了一步就作答，把中间的名字当成了答案。",
        "目前没有发现矛盾，但推测不能代替证据。",
        "专有名词应当照原文抄写，不要改写。",
        "页面如果很长，只看列出事实的部分就够了。",
        "换句话说，只要确定这一个事实，问题就解决了。",
        "摘要往往不完整，读全文更可靠。",
        "再对照一遍题目的措辞，看看有没有漏掉的限定。",
        "这里不需要解释，只需要准确。",
        "如果结果出人意料，就要再找一个来源来印证。",
    ),
}

_VISIBLE: dict[str, dict[str, tuple[str, ...]]] = {
    "en": {
        "search": ("Let me look this up.", "I will search for it.", "First I need a source."),
        "open": ("I will read the page.", 'Opening "{title}".', "This page should say it."),
        "measure": ("I will measure the picture.", "Let me read the values from the pixels."),
        "answer": (
            "According to the page that I read, the {label} is {value}.",
            "The source gives {value} as the {label}.",
            "The page lists this under {label}.",
        ),
        "computed": ("The measured values give {value}.", "Computed from the picture: {value}."),
        "lost": ("I could not find a source for this.",),
    },
    "zh": {
        "search": ("先查一下资料。", "需要检索来源。"),
        "open": ("打开页面细看。", "读一读“{title}”。"),
        "answer": ("页面写明{label}为{value}。", "据查到的页面，{label}是{value}。"),
        "lost": ("没有找到可靠的来源。",),
    },
}


def language(text: str) -> str:
    """``zh`` for text with CJK characters, else ``en``."""
    return "zh" if re.search(r"[\u3400-\u9fff]", text) else "en"


class Voice:
    """Words for one turn of one sample. ``seed`` is the request's, ``sample`` the sample's index."""

    def __init__(self, question: str, seed: int, turn: int, sample: int) -> None:
        self.lang = language(question)
        self._question = question
        self._turn = turn
        self._rng = random.Random(dice("voice", question, seed, turn))
        order = list(_REFLECTIONS[self.lang])
        random.Random(dice("reflections", question, sample)).shuffle(order)
        self._order = order

    def think(self, *kinds: str, **slots: str) -> str:
        """Thinking of at least MIN_CHARS characters that opens with a sentence of each kind."""
        slots = {"question": self._question, "seen": "", "label": "", "value": "", **slots}
        said = [self._rng.choice(self._bank(kind)).format(**slots) for kind in kinds]
        space = "" if self.lang == "zh" else " "
        step = 5
        position = self._turn * step
        while len(space.join(said)) < MIN_CHARS[self.lang]:
            said.append(self._order[position % len(self._order)])
            position += 1
        return re.sub(r" {2,}", " ", space.join(said)).strip()

    def _bank(self, kind: str) -> tuple[str, ...]:
        return _KINDS[self.lang].get(kind) or _KINDS["en"][kind]

    def visible(self, kind: str, **slots: str) -> str:
        """A short visible sentence, or nothing, as models often do before a call.

        Sentences take turns: the same one in two turns in a row is what F7 drops.
        """
        if kind in ("search", "open", "measure") and self._rng.random() < 0.5:
            return ""
        bank = _VISIBLE[self.lang].get(kind) or _VISIBLE["en"][kind]
        return bank[self._turn % len(bank)].format(**{"label": "", "value": "", **slots})

    def essay(self, subject: str, chars: int) -> str:
        """Far too much thinking: numbered considerations until ``chars`` is reached."""
        lines = []
        length = number = 0
        while length < chars:
            number += 1
            reflection = self._order[(number + self._turn) % len(self._order)]
            line = f"Consideration {self._turn + 1}.{number} about {subject}: {reflection}"
            lines.append(line)
            length += len(line) + 1
        return "\n".join(lines)
