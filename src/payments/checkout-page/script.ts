/**
 * The page's script, sent inline and allowed by its hash. It waits for the next state by one long poll at a time, replaces
 * `main` when the state differs, and reads its heading out once. Everything else of the page works without it.
 */
export const SCRIPT = `(() => {
  const main = () => document.querySelector('main');
  let endsAt, flight, timer, failures = 0;

  const later = (ms) => { clearTimeout(timer); timer = setTimeout(wait, ms); };
  async function wait() {
    const { state, version } = main().dataset;
    if (!state || flight || document.hidden) return;
    flight = new AbortController();
    const limit = setTimeout(() => flight.abort(), 35000);
    let pause = 1000;
    try {
      const answer = await fetch(state + '?wait=25&since=' + encodeURIComponent(version), { signal: flight.signal });
      if (answer.status === 404) pause = 0;
      else if (!answer.ok) throw answer;
      else {
        const now = await answer.json();
        endsAt = Date.now() + now.secondsLeft * 1000;
        if (now.version !== version) await replace();
      }
      failures = 0;
    } catch {
      pause = Math.min(15, 2 ** failures++) * (500 + Math.random() * 500) + 500;
    }
    clearTimeout(limit);
    flight = null;
    if (pause) later(pause);
  }

  async function replace() {
    const answer = await fetch(main().dataset.page);
    if (!answer.ok) throw answer;
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    document.title = page.title;
    main().replaceWith(page.querySelector('main'));
    begin();
    document.getElementById('live').textContent =
      [...main().querySelectorAll('h1, [data-say]')].map((one) => one.textContent).join(' ');
  }

  function showTime() {
    const left = main().querySelector('[data-minutes]');
    if (!left) return;
    const minutes = Math.max(1, Math.ceil((endsAt - Date.now()) / 60000));
    left.textContent = minutes > 120
      ? left.dataset.hours.replace('#', Math.round(minutes / 60)) : left.dataset.minutes.replace('#', minutes);
  }

  function goBack() {
    const note = main().querySelector('[data-return]');
    const done = 'returned ' + main().dataset.page;
    if (!note || sessionStorage.getItem(done)) return;
    let seconds = 5;
    const text = note.firstElementChild;
    const show = () => { text.textContent = note.dataset.return.replace('#', seconds); };
    const turn = setInterval(() => {
      if (document.hidden) return;
      seconds -= 1;
      show();
      if (seconds > 0) return;
      stop();
      location.assign(note.dataset.href);
    }, 1000);
    const stop = () => {
      clearInterval(turn);
      note.hidden = true;
      sessionStorage.setItem(done, 1);
    };
    note.hidden = false;
    note.querySelector('button').onclick = stop;
    show();
  }

  function begin() {
    endsAt = Date.now() + main().dataset.left * 1000;
    for (const one of main().querySelectorAll('[data-print]')) {
      one.hidden = false;
      one.onclick = () => print();
    }
    showTime();
    goBack();
  }

  document.addEventListener('submit', (event) => {
    const { dataset } = event.target;
    if (dataset.sent) event.preventDefault();
    dataset.sent = 1;
    setTimeout(() => delete dataset.sent, 8000);
    event.submitter?.setAttribute('aria-busy', 'true');
  });
  document.addEventListener('visibilitychange', () => document.hidden ? flight?.abort() : later(50));
  addEventListener('pageshow', (event) => event.persisted && location.reload());
  setInterval(showTime, 15000);
  begin();
  later(50);
})();`;
