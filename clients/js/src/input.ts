import type { Privatizer } from "./privatizer.js";

const STYLE = `
  :host { display: block }
  textarea { box-sizing: border-box; width: 100%; min-height: 4.5em; font: inherit; color: inherit;
    background: transparent; border: 1px solid currentColor; border-radius: 4px; padding: .5em }
  p { margin: .25em 0 0; font-size: .85em }`;

// They carry what is typed to listeners of the page.
const TELLING = [
  "beforeinput", "input", "keydown", "keyup", "keypress", "paste", "copy", "cut", "drop",
  "compositionstart", "compositionupdate", "compositionend", "change", "select",
];

/**
 * Define `<mondegreen-input name="...">`: a text field whose value is a release.
 *
 * What is typed stays in a closed shadow tree; the value, for forms and for scripts, is
 * drawn when it is first asked for, once for each text, so that a second look or a retry
 * sends the same release, until the form is reset. Each edit that is sent, as by a form that
 * saves itself, is another release: what they tell adds up. `required`, `disabled`, `placeholder` and `<label>` work as for
 * a textarea. Events of typing do not reach listeners beyond the element, but for those
 * that capture: it guards against mistakes of a page, not against a hostile one.
 */
export function defineInput(privatizer: Privatizer, name = "mondegreen-input"): void {
  const replaced = privatizer.showsOrdinary ? "Sensitive words" : "All words";
  const note = `${replaced} are replaced on this page, before the text is sent (epsilon ${privatizer.epsilon}).`;

  class MondegreenInput extends HTMLElement {
    static readonly formAssociated = true;
    static readonly observedAttributes = ["placeholder", "required"];
    readonly #internals = this.attachInternals();
    readonly #area = document.createElement("textarea");
    readonly #drawn = new Map<string, string>();
    #form: HTMLFormElement | null = null;

    constructor() {
      super();
      const root = this.attachShadow({ mode: "closed", delegatesFocus: true });
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(STYLE);
      root.adoptedStyleSheets = [sheet];
      const said = document.createElement("p");
      said.id = "note";
      said.textContent = note;
      const area = this.#area;
      area.setAttribute("aria-describedby", "note");
      area.setAttribute("part", "input");
      area.autocomplete = "off"; // nor kept by the browser, nor sent to be spelled
      area.spellcheck = false;
      area.setAttribute("autocorrect", "off");
      root.append(area, said);
      for (const type of TELLING) area.addEventListener(type, (event) => event.stopPropagation());
      area.addEventListener("input", () => this.#changed());
      area.addEventListener("focus", () => this.#named());
    }

    /** The release of what is typed; empty where nothing is. */
    get value(): string {
      const text = this.#area.value;
      if (!text) return "";
      const release = this.#drawn.get(text) ?? privatizer.privatize(text).text;
      this.#drawn.set(text, release);
      return release;
    }

    get form(): HTMLFormElement | null {
      return this.#internals.form;
    }

    get name(): string {
      return this.getAttribute("name") ?? "";
    }

    checkValidity(): boolean {
      return this.#internals.checkValidity();
    }

    reportValidity(): boolean {
      return this.#internals.reportValidity();
    }

    connectedCallback(): void {
      this.#named();
      this.#check();
    }

    attributeChangedCallback(): void {
      this.#area.placeholder = this.getAttribute("placeholder") ?? "";
      this.#area.required = this.hasAttribute("required");
      this.#check();
    }

    formAssociatedCallback(form: HTMLFormElement | null): void {
      this.#form?.removeEventListener("formdata", this.#fill);
      this.#form = form;
      form?.addEventListener("formdata", this.#fill);
    }

    formDisabledCallback(isDisabled: boolean): void {
      this.#area.disabled = isDisabled;
    }

    formResetCallback(): void {
      this.#area.value = "";
      this.#drawn.clear();
      this.#check();
    }

    readonly #fill = (event: FormDataEvent): void => {
      const isSent = this.name && !this.matches(":disabled");
      if (isSent) event.formData.set(this.name, this.value);
    };

    #changed(): void {
      this.#check();
      this.dispatchEvent(new Event("input", { bubbles: true })); // without what was typed
    }

    #check(): void {
      const isMissing = this.#area.required && !this.#area.value;
      const why = isMissing ? this.#area.validationMessage || "Fill in this field." : "";
      this.#internals.setValidity(isMissing ? { valueMissing: true } : {}, why, this.#area);
    }

    #named(): void {
      const labels = Array.from(this.#internals.labels, (label) => label.textContent ?? "");
      const own = this.getAttribute("aria-label") ?? labels.join(" ").trim();
      if (own) this.#area.setAttribute("aria-label", own);
    }
  }

  customElements.define(name, MondegreenInput);
}
