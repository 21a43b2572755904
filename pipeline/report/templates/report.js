// Without this script every item and option is visible; with it they can be narrowed down.
const form = document.getElementById("filters");
const byCluster = document.getElementById("by-cluster");
const byRole = document.getElementById("by-role");
const items = [...document.querySelectorAll(".item")];

function narrow() {
  let shown = 0;
  for (const item of items) {
    const role = byRole.value;
    const options = [...item.querySelectorAll(".option")];
    const has = !role || options.some((option) => option.dataset.role === role);
    item.hidden = !has || (byCluster.value !== "" && item.dataset.cluster !== byCluster.value);
    for (const option of options) {
      option.hidden = role !== "" && option.dataset.role !== role && option.dataset.role !== "key";
    }
    shown += item.hidden ? 0 : 1;
  }
  document.getElementById("shown").textContent = `${shown} of ${items.length} shown`;
}

if (items.length) {
  form.hidden = false;
  form.addEventListener("change", narrow);
  form.addEventListener("submit", (event) => event.preventDefault());
  narrow();
}
