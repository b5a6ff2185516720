import { render } from "preact";
import "./state/key";
import { resume } from "./state/jobs";
import { refresh, watch } from "./state/memory";
import { App } from "./view/app";
import "./style/base.css";
import "./style/layout.css";
import "./style/parts.css";
import "./style/text.css";
import "./style/why.css";
import "./style/partner.css";
import "./style/knowledge.css";
import "./style/inside.css";

render(<App />, document.body);

watch();
await refresh();
await resume();
