// SPDX-License-Identifier: MIT
// raii.cpp - the largest number of each tensor, without a line that frees
#include <algorithm>
#include <cmath>
#include <iostream>
#include <modelfile.hpp>

int main(int argc, char **argv)
{
    modelfile::env env;

    if (argc != 2)
        return 2;
    auto model = env.open(argv[1]);
    if (!model) {
        std::cerr << argv[1] << ": " << model.error().message << '\n';
        return 1;
    }
    for (const auto &tensor : model->tensors()) {
        auto numbers = model->read<float>(tensor.index);
        float most = 0;

        if (!numbers) {
            std::cerr << numbers.error().message << '\n';
            continue;
        }
        for (float number : *numbers)
            most = std::max(most, std::fabs(number));
        std::cout << tensor.name() << ' ' << most << '\n';
    }
    return 0;
}
