// The SVG chart of a run: two step charts with a common time axis.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>

#include "asim/report.h"

namespace ares::sim {
namespace {

constexpr double kWidth = 1000, kLeft = 70, kRight = 20, kTop = 50, kChart = 220, kGap = 60;
constexpr double kPlot = kWidth - kLeft - kRight;

struct Series {
  const char* name;
  const char* colour;
  std::function<double(const History::Level&)> value;
};

std::string coordinates(double x, double y) {
  char text[48];
  std::snprintf(text, sizeof text, "%.1f,%.1f ", x, y);
  return text;
}

std::string escape(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += c;
  }
  return out;
}

std::string label(double x, double y, const char* anchor, const std::string& text,
                  const char* colour = "#444") {
  char head[160];
  std::snprintf(head, sizeof head, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">", x,
                y, anchor, colour);
  return head + escape(text) + "</text>\n";
}

std::string line(double x1, double y1, double x2, double y2) {
  char text[160];
  std::snprintf(text, sizeof text,
                "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>\n", x1, y1,
                x2, y2);
  return text;
}

// 1, 2 or 5 times a power of ten, so that about five steps make `most`.
double step_of(double most) {
  const double raw = std::max(most, 1e-9) / 5, power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (raw <= factor * power) return factor * power;
  return 10 * power;
}

std::string plain(double value) {
  char text[48];
  std::snprintf(text, sizeof text, "%.10g", value);
  return text;
}

// One chart with its upper edge at `top`; the range of values is 0 to `most`.
std::string chart(double top, const std::string& title, double most,
                  const std::vector<History::Level>& levels, const std::vector<Series>& all) {
  const double bottom = top + kChart;
  std::string out = label(kLeft, top - 8, "start", title, "#000");
  const double step = step_of(most);
  for (int i = 0; i * step <= most * 1.0001; ++i) {
    const double tick = i * step;
    const double y = bottom - kChart * tick / most;
    out += line(kLeft, y, kLeft + kPlot, y) + label(kLeft - 6, y + 4, "end", plain(tick));
  }
  double x_of_name = kLeft + kPlot;
  for (const Series& series : all) {
    std::string points;
    for (std::size_t i = 0; i < levels.size(); ++i) {
      const double y = bottom - kChart * std::min(series.value(levels[i]) / most, 1.0);
      const double width = kPlot / static_cast<double>(levels.size());
      points += coordinates(kLeft + width * static_cast<double>(i), y);
      points += coordinates(kLeft + width * static_cast<double>(i + 1), y);
    }
    out += std::string("<polyline fill=\"none\" stroke=\"") + series.colour + "\" points=\"" +
           points + "\"/>\n";
    out += label(x_of_name, top - 8, "end", series.name, series.colour);
    x_of_name -= 90;
  }
  return out;
}

}  // namespace

std::string history_svg(const std::string& title, const Outcome& outcome) {
  const std::vector<History::Level> levels = outcome.history->averages();
  double most_jobs = 1;
  for (const History::Level& level : levels)
    most_jobs = std::max({most_jobs, level.waiting, level.running});
  const auto cpus = static_cast<double>(std::max<std::uint64_t>(outcome.machine_cpus, 1));
  const auto gpus = static_cast<double>(std::max<std::uint64_t>(outcome.machine_gpus, 1));
  std::vector<Series> use = {
      {"CPUs", "#1f77b4", [=](const History::Level& l) { return 100 * l.cpus / cpus; }}};
  if (outcome.machine_gpus > 0)
    use.push_back(
        {"GPUs", "#2ca02c", [=](const History::Level& l) { return 100 * l.gpus / gpus; }});
  const std::vector<Series> jobs = {
      {"waiting", "#d62728", [](const History::Level& l) { return l.waiting; }},
      {"running", "#1f77b4", [](const History::Level& l) { return l.running; }}};

  const double height = kTop + 2 * kChart + 2 * kGap;
  char head[200];
  std::snprintf(head, sizeof head,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
                "font-family=\"sans-serif\" font-size=\"12\">\n",
                kWidth, height);
  std::string out = head;
  out += "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
  out += label(kWidth / 2, 20, "middle", title, "#000");
  out += chart(kTop, "in use, per cent", 100, levels, use);
  const double second = kTop + kChart + kGap;
  out += chart(second, "jobs", most_jobs, levels, jobs);

  const double days = std::chrono::duration<double>(outcome.history->span()).count() / 86400 *
                      static_cast<double>(levels.size());
  const bool long_run = days > 2;
  const double most = long_run ? days : days * 24, step = step_of(most);
  for (double tick = 0; most > 0 && tick <= most; tick += step)
    out += label(kLeft + kPlot * tick / most, second + kChart + 18, "middle", plain(tick));
  out += label(kLeft + kPlot / 2, second + kChart + 38, "middle", long_run ? "days" : "hours");
  return out + "</svg>\n";
}

}  // namespace ares::sim
