"""The chat template we give models that have none, such as the embedded base model."""

from __future__ import annotations

# A base model continues text: plain paragraphs of question and answer are what it has seen most of.
# A last user message leaves the answer to be continued.
TEMPLATE = """\
{%- for message in messages -%}
{%- if message['role'] == 'system' -%}
{{ message['content'] | trim }}

{% elif message['role'] == 'user' -%}
### Input
{{ message['content'] | trim }}

{% else -%}
### Output
{{ message['content'] | trim }}

{% endif -%}
{%- endfor -%}
### Output
"""
