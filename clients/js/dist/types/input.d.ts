import type { Privatizer } from "./privatizer.js";
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
export declare function defineInput(privatizer: Privatizer, name?: string): void;
