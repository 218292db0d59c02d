"""Writes page_assets.cc: style, script and chart packages of the report as constants, with their policy hashes.

    embed_page.py --style FILE... --script FILE... --lock package-lock.json --installed FILE...

Files of the last below a `node_modules` are the npm packages of third_party/page. There may be none: then the charts
are left out, and script and style are embedded as they are written.
"""

import argparse
import base64
import hashlib
import json
import pathlib
import re
import subprocess
import sys

PACKAGES = ["vega", "vega-lite", "vega-interpreter"]  # in the order in which each needs the one before


def smaller(text, kind, files):
    """The script (`js`) or style (`css`) as esbuild makes it small; as it is without esbuild."""
    minifier = next((name for name in files if name.endswith("/bin/esbuild")), None)
    if minifier is None:
        return text
    command = [minifier, "--minify", "--charset=utf8", "--log-level=warning", f"--loader={kind}"]
    result = subprocess.run(command, input=text, capture_output=True, text=True, encoding="utf-8", check=False)
    if result.returncode != 0:
        sys.exit(f"embed_page.py: {minifier}: {result.stderr.strip()}\nIs it this machine's? Run tools/setup page")
    return result.stdout.strip()


def chart_script(files):
    """The packages as one classic script that leaves vega, vegaLite and vegaInterpreter behind; empty without them."""
    scripts = [name for name in files if "/node_modules/" in name and name.endswith(".js")]
    by_name = {pathlib.PurePath(name).parts[-3]: name for name in scripts}
    if set(by_name) != set(PACKAGES):
        if by_name:
            sys.exit(f"embed_page.py: of {PACKAGES} only {sorted(by_name)} are there; run tools/setup page")
        return ""
    text = {name: pathlib.Path(by_name[name]).read_text(encoding="utf-8") for name in PACKAGES}
    # the interpreter comes as a module only: its two module statements are rewritten
    module, imports = re.subn(r"import \{([^}]*)\} from 'vega-util';", r"const {\1} = vega;", text["vega-interpreter"])
    module, exports = re.subn(
        r"export \{ (\w+) as expressionInterpreter \};", r"return {expressionInterpreter: \1};", module
    )
    if (imports, exports) != (1, 1):
        sys.exit("embed_page.py: vega-interpreter is not built as this script expects")
    module = re.sub(r"(?m)^\s*//.*$", "", module)
    text["vega-interpreter"] = f"var vegaInterpreter = (function () {{{module}}})();"
    script = "\n".join(re.sub(r"(?m)^//# sourceMappingURL=.*$", "", text[name]) for name in PACKAGES)
    # in strings and comments only, where the backslash changes nothing
    return script.replace("</script", r"<\/script").replace("<!--", r"<\!--").replace("\r", "")


def versions(lock):
    packages = json.loads(pathlib.Path(lock).read_text(encoding="utf-8"))["packages"]
    return ", ".join(f"{name} {packages['node_modules/' + name]['version']}" for name in PACKAGES)


def literal(text):
    """C++ string literals, in pieces that every compiler takes."""
    data = text.encode()
    pieces = []
    for at in range(0, len(data), 8000):
        escaped = ""
        for byte in data[at : at + 8000]:
            char = chr(byte)
            if char in '"\\?':
                escaped += "\\" + char
            elif char == "\n":
                escaped += "\\n"
            elif 32 <= byte < 127:
                escaped += char
            else:
                escaped += f"\\{byte:03o}"
        pieces.append(f'    "{escaped}"')
    return "\n".join(pieces) or '    ""'


def asset(name, text):
    if "\r" in text or "\0" in text:
        sys.exit(f"embed_page.py: {name} holds a byte that a browser would change, so its hash would not fit")
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    size = len(text.encode())
    constant = f"constexpr char k{name}Text[] =\n{literal(text)};\n"
    return f"{constant}const PageAsset k{name} = {{{{k{name}Text, {size}}}, \"'sha256-{digest}'\"}};\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--style", nargs="+", required=True)
    parser.add_argument("--script", nargs="+", required=True)
    parser.add_argument("--lock", required=True)
    parser.add_argument("--installed", nargs="+", required=True)
    options = parser.parse_args()
    style = "\n".join(pathlib.Path(name).read_text(encoding="utf-8") for name in options.style)
    script = "\n".join(pathlib.Path(name).read_text(encoding="utf-8") for name in options.script)
    script = f"(function(){{\n{script}\n}})();"
    print('#include "collector/report/page_block.h"\n\nnamespace crema {\n')
    print(asset("PageStyle", smaller(style, "css", options.installed)))
    print(asset("PageScript", smaller(script, "js", options.installed)))
    print(asset("ChartScript", chart_script(options.installed)))
    print(f'const std::string_view kChartScriptVersions = "{versions(options.lock)}";\n')
    print("}  // namespace crema")


if __name__ == "__main__":
    main()
