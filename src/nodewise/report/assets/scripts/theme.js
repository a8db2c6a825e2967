// Light or dark.

/** The theme the reader chose before, else the system's; pages from disk may have no storage. */
function initialTheme() {
  try {
    const chosen = localStorage.getItem("nodewise-theme");
    if (chosen === "light" || chosen === "dark") return chosen;
  } catch {
    // no storage: the system decides
  }
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  byId("theme").textContent = theme === "dark" ? "Light theme" : "Dark theme";
  try {
    localStorage.setItem("nodewise-theme", theme);
  } catch {
    // remembered for this visit only
  }
}

/** Let the button change the theme, and tell who draws in its colours. */
function connectTheme(changed = () => {}) {
  setTheme(initialTheme());
  byId("theme").addEventListener("click", () => {
    setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    changed();
  });
}
